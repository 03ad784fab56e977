# SPDX-License-Identifier: Apache-2.0

"""Measure the cost of authentication: the same read with noauth2, with a Keystone token that the worker has cached,
and with one that memcached has cached.

The services alternate read by read, so that other load on the machine affects all of them. Keystone's catalog has as
many services as a real cloud, because tokens contain it. The exit status is 0 only if a cached token costs at most one
millisecond.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.client.http import Connection, UnexpectedResponse, request
from bench.datasets.loading import fill
from bench.datasets.shapes import flat
from bench.report.table import as_text, milliseconds
from bench.site.services import Plimsoll
from tests.cloud import keystone, memcached
from tests.cloud.keystone import Keystone
from tests.cloud.memcached import Memcached

HELP = "measure the cost of authentication"
GOAL_MS = 1.0
NOAUTH = "noauth2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--reads", type=int, default=2000, help="reads of each service")
    parser.add_argument("--catalog", type=int, default=20, help="services in Keystone's catalog")


def main(arguments: argparse.Namespace) -> int:
    reason = keystone.missing()
    if reason:
        print(f"Nothing was measured: {reason}.")
        return 2
    with Keystone() as identity:
        for number in range(arguments.catalog):
            identity.endpoint(f"service-{number}", f"https://cloud.example:{8000 + number}/v1/%(tenant_id)s")
        with _services(identity) as services:
            times = _measure(services, identity.token(), arguments.reads)
    median = {name: statistics.median(duration) for name, duration in times.items()}
    extra = {name: duration - median[NOAUTH] for name, duration in median.items()}
    lines = [
        [
            name,
            milliseconds(duration),
            milliseconds(statistics.quantiles(times[name], n=20)[-1]),
            milliseconds(extra[name]),
        ]
        for name, duration in median.items()
    ]
    print(as_text(["read of one provider", "median", "95 %", "more than noauth2"], lines))
    highest = max(extra.values())
    print(f"A cached token costs at most {highest:.2f} ms; the goal is {GOAL_MS} ms.")
    return 0 if highest <= GOAL_MS else 1


@contextmanager
def _services(identity: Keystone) -> Iterator[Mapping[str, Plimsoll]]:
    """Yield the running services by their kind of authentication, each on its own database with equal rows."""
    settings: dict[str, dict[str, str]] = {NOAUTH: {}, "keystone, cached in the worker": _settings(identity)}
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as temporary, ExitStack() as running:
        reason = memcached.missing()
        if reason:
            print(f"memcached is not measured: {reason}.")
        else:
            cache = running.enter_context(Memcached())
            settings["keystone, cached in memcached"] = _settings(identity, memcached_servers=cache.address)
        services = {}
        for number, (name, environment) in enumerate(settings.items()):
            directory = Path(temporary)
            service = Plimsoll(
                f"plimsoll-{number}", directory, f"sqlite:///{directory}/{number}.sqlite", environment
            )
            service.sync()
            fill(service.url, flat(100))
            services[name] = service.start()
            running.callback(service.stop)
        yield services


def _settings(identity: Keystone, **extra: str) -> dict[str, str]:
    lines = identity.authtoken(**extra).splitlines()[1:]
    options = dict(line.split(" = ", 1) for line in lines)
    settings = {f"OS_KEYSTONE_AUTHTOKEN__{name.upper()}": value for name, value in options.items()}
    return settings | {"OS_API__AUTH_STRATEGY": "keystone"}


def _measure(services: Mapping[str, Plimsoll], token: str, reads: int) -> dict[str, list[float]]:
    """Return the milliseconds of each read, by service."""
    uuid = flat(100).providers[0]
    without_token = request("GET", f"/resource_providers/{uuid}")
    with_token = without_token.replace(b"x-auth-token: admin\r\n", f"x-auth-token: {token}\r\n".encode())
    connections = {name: Connection(service.port) for name, service in services.items()}
    times: dict[str, list[float]] = {name: [] for name in services}
    for number in range(-100, reads):  # the first ones are a warm-up
        for name, connection in connections.items():
            message = without_token if name == NOAUTH else with_token
            start_time = time.perf_counter()
            response = connection.call(message)
            duration = 1000 * (time.perf_counter() - start_time)
            if response.status != 200:
                raise UnexpectedResponse(f"{name}: {response.status} {bytes(response.body).decode()}")
            if number >= 0:
                times[name].append(duration)
    return times
