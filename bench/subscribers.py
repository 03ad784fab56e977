# SPDX-License-Identifier: Apache-2.0

"""Measure many subscribers of one worker: how soon a claim reaches all of them, and what other requests feel.

Two services on databases with equal rows alternate round by round; one has subscribers of `/plimsoll/v1/changes`, which another
process reads. A round is one claim, and then reads of a provider, one after the other. A ratio is the time of a read with subscribers divided
by that without. The exit status is 0 only if a claim reaches all within `--within` seconds and the ratio of the medians is at most `--at-most`.

    python -m bench subscribers --database mariadb --rounds 20
"""

from __future__ import annotations

import argparse
import multiprocessing
import selectors
import socket
import statistics
import tempfile
import time
from contextlib import closing
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from uuid import uuid4

from bench.client.http import HOST, Connection, request, request_with_json
from bench.datasets.rows import Rows
from bench.measuring.workloads import BUILDERS
from bench.report.table import as_text
from bench.site.databases import KINDS, engines, is_missing
from bench.site.site import Site

HELP = "measure many subscribers of the change feed at one worker"
CONNECT_SECONDS = 120.0
DELIVERY_SECONDS = 60.0
_STREAM = b"GET /plimsoll/v1/changes HTTP/1.1\r\nhost: bench\r\nx-auth-token: admin\r\naccept: text/event-stream\r\n\r\n"
_POSITION, _CHANGE = b"event: position\n", b"event: change\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", choices=KINDS, default="mariadb")
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a round")
    parser.add_argument("--within", type=float, default=1.0, help="seconds in which a claim reaches all")
    parser.add_argument("--at-most", type=float, default=1.2, help="the highest ratio that is accepted")


def main(arguments: argparse.Namespace) -> int:
    if is_missing(arguments.database):
        return 2
    rows = BUILDERS["flat"]()
    with tempfile.TemporaryDirectory(prefix="plimsoll-subscribers-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, None, directory) as (_, ours):
            site = Site(ours, ours, directory)
            with (
                site.deployment("with_subscribers", rows, 1) as one,
                site.deployment("without_subscribers", rows, 1) as other,
            ):
                return _measure(arguments, rows, one.ports[0], other.ports[0])


def _measure(arguments: argparse.Namespace, rows: Rows, port: int, other_port: int) -> int:
    ours, theirs = multiprocessing.Pipe()
    reader = multiprocessing.Process(
        target=_subscribe, args=(theirs, port, arguments.subscribers), daemon=True
    )
    reader.start()
    delivered: list[float] = []
    reads: dict[str, list[float]] = {"with subscribers": [], "without": []}
    with closing(Connection(port)) as connection, closing(Connection(other_port)) as other:
        assert ours.poll(CONNECT_SECONDS), "the subscribers do not connect"
        assert ours.recv() == "connected"
        for _ in range(arguments.rounds):
            claimed = _claim(connection, rows)
            reads["with subscribers"] += _read(connection, rows, arguments.seconds)
            assert ours.poll(DELIVERY_SECONDS), "a claim does not reach all subscribers"
            delivered.append(ours.recv() - claimed)
            _claim(other, rows)
            reads["without"] += _read(other, rows, arguments.seconds)
    reader.terminate()
    reader.join()
    lines = []
    for title, times in reads.items():
        low, middle, high = (1000 * each for each in _quantiles(times))
        lines.append((title, str(len(times)), f"{low:.2f} ms", f"{middle:.2f} ms", f"{high:.2f} ms"))
    median = statistics.median(reads["with subscribers"]) / statistics.median(reads["without"])
    high = _quantiles(reads["with subscribers"])[2] / _quantiles(reads["without"])[2]
    lines.append(("ratio", "", "", f"{median:.2f}", f"{high:.2f}"))
    print(as_text(("GET of a provider", "requests", "10 %", "median", "90 %"), lines))
    slowest = max(delivered)
    print(
        f"a claim reaches {arguments.subscribers} subscribers within {statistics.median(delivered):.3f} s"
        f" (median), {slowest:.3f} s (slowest of {len(delivered)})"
    )
    return 0 if slowest <= arguments.within and median <= arguments.at_most else 1


def _quantiles(times: list[float]) -> tuple[float, float, float]:
    tenths = statistics.quantiles(times, n=10)
    return tenths[0], tenths[4], tenths[8]


def _claim(connection: Connection, rows: Rows) -> float:
    """Claim something for a new consumer; return the time at which the response was there."""
    body = (
        f'{{"allocations":{{"{rows.providers[0]}":{{"resources":{{"VCPU":1}}}}}},"project_id":"engines",'
        '"user_id":"ada","consumer_generation":null,"consumer_type":"INSTANCE"}'
    )
    connection.call(request_with_json("PUT", f"/allocations/{uuid4()}", body))
    return time.monotonic()


def _read(connection: Connection, rows: Rows, seconds: float) -> list[float]:
    """Read a provider again and again; return the time of each read."""
    message = request("GET", f"/resource_providers/{rows.providers[1]}")
    times = []
    end = time.monotonic() + seconds
    while (began := time.monotonic()) < end:
        connection.call(message)
        times.append(time.monotonic() - began)
    return times


def _subscribe(pipe: Pipe, port: int, count: int) -> None:
    """Open streams. Send `connected`, and for each change the time at which all of them have received it."""
    selector = selectors.DefaultSelector()
    for _ in range(count):
        stream = socket.create_connection((HOST, port))
        stream.sendall(_STREAM)
        stream.setblocking(False)
        selector.register(stream, selectors.EVENT_READ)
    positions = changes = 0
    is_connected = False
    while True:
        for key, _ in selector.select():
            assert isinstance(key.fileobj, socket.socket)
            received = key.fileobj.recv(1 << 16)
            assert received, "a stream has ended"
            # An event of some hundred bytes is sent and received at once.
            positions += received.count(_POSITION)
            changes += received.count(_CHANGE)
        if not is_connected and positions >= count:
            is_connected = True
            pipe.send("connected")
        if changes >= count:
            changes -= count
            pipe.send(time.monotonic())
