# SPDX-License-Identifier: Apache-2.0

"""Measures what it costs to know who is asking: the same read with noauth2, with a token of a real Keystone that this
process remembers, and with one that memcached does.

The services take turns, read by read, so that whatever else the machine does hits all of them. Keystone's catalog
has as many services as a cloud has, because tokens carry it. The status is 0 only if a token that is known costs no
more than a millisecond.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.client.http import BadAnswer, Connection, request
from bench.report.table import as_text, milliseconds
from bench.site.services import Plimsoll
from bench.worlds.filling import fill
from bench.worlds.shapes import flat
from tests.cloud import keystone, memcached
from tests.cloud.keystone import Keystone
from tests.cloud.memcached import Memcached

HELP = "measure what a token costs"
GOAL_MS = 1.0
WITHOUT = "noauth2"


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
    median = {name: statistics.median(taken) for name, taken in times.items()}
    more = {name: taken - median[WITHOUT] for name, taken in median.items()}
    lines = [
        [
            name,
            milliseconds(taken),
            milliseconds(statistics.quantiles(times[name], n=20)[-1]),
            milliseconds(more[name]),
        ]
        for name, taken in median.items()
    ]
    print(as_text(["one provider is read", "median", "95 %", "more than without"], lines))
    worst = max(more.values())
    print(f"A known token costs {worst:.2f} ms at most; it may cost {GOAL_MS} ms.")
    return 0 if worst <= GOAL_MS else 1


@contextmanager
def _services(identity: Keystone) -> Iterator[Mapping[str, Plimsoll]]:
    """By what they ask of a caller, each on the same world of its own."""
    settings: dict[str, dict[str, str]] = {
        WITHOUT: {},
        "keystone, this process remembers": _settings(identity),
    }
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as directory, ExitStack() as running:
        reason = memcached.missing()
        if reason:
            print(f"memcached is not measured: {reason}.")
        else:
            cache = running.enter_context(Memcached())
            settings["keystone, memcached remembers"] = _settings(identity, memcached_servers=cache.address)
        services = {}
        for number, (name, given) in enumerate(settings.items()):
            place = Path(directory)
            service = Plimsoll(f"plimsoll-{number}", place, f"sqlite:///{place}/{number}.sqlite", given)
            service.sync()
            fill(service.url, flat(100))
            services[name] = service.start()
            running.callback(service.stop)
        yield services


def _settings(identity: Keystone, **more: str) -> dict[str, str]:
    lines = identity.authtoken(**more).splitlines()[1:]
    options = dict(line.split(" = ", 1) for line in lines)
    settings = {f"OS_KEYSTONE_AUTHTOKEN__{name.upper()}": value for name, value in options.items()}
    return settings | {"OS_API__AUTH_STRATEGY": "keystone"}


def _measure(services: Mapping[str, Plimsoll], token: str, reads: int) -> dict[str, list[float]]:
    """Milliseconds that each read took, by service."""
    uuid = flat(100).providers[0]
    plain = request("GET", f"/resource_providers/{uuid}")
    known = plain.replace(b"x-auth-token: admin\r\n", f"x-auth-token: {token}\r\n".encode())
    connections = {name: Connection(service.port) for name, service in services.items()}
    times: dict[str, list[float]] = {name: [] for name in services}
    for number in range(-100, reads):  # the first ones are for getting warm
        for name, connection in connections.items():
            message = plain if name == WITHOUT else known
            begun = time.perf_counter()
            reply = connection.call(message)
            taken = 1000 * (time.perf_counter() - begun)
            if reply.status != 200:
                raise BadAnswer(f"{name}: {reply.status} {bytes(reply.body).decode()}")
            if number >= 0:
                times[name].append(taken)
    return times
