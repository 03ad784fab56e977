# SPDX-License-Identifier: Apache-2.0

"""Clients at work: each does one unit after the other on its own connection, and the time of every unit is kept.

All clients of a round live in one process of their own that waits for all its sockets at once: that costs the
machine least. What the process itself used of the processor is measured and given back with the times.
"""

from __future__ import annotations

import os
import pickle
import select
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from bench.client.http import BadAnswer, Connection, Reply

Unit = Generator[bytes, Reply, bool]
"""One unit of work: yields requests, is sent their replies, and returns whether it was done (and not refused)."""

Clients = Callable[[int], Iterator[Unit]]
"""The endless work of the client with this number."""


@dataclass(slots=True)
class Round:
    """What one round of one server gave."""

    nanoseconds: list[int] = field(default_factory=list)
    """Of each unit that was done."""
    refused: int = 0
    seconds: float = 0.0
    client_seconds: float = 0.0
    """What the client process used of a processor."""
    answer_bytes: int = 0
    """Length of the last body."""

    @property
    def rate(self) -> float:
        return len(self.nanoseconds) / self.seconds

    @property
    def client_per_unit(self) -> float:
        return self.client_seconds / max(1, len(self.nanoseconds) + self.refused)


@dataclass(frozen=True, slots=True)
class Extent:
    """How long a round lasts: for these seconds, and at least so many units of each client; before it, a warm-up."""

    seconds: float
    least: int = 1
    warm: int = 1


def drive(port: int, clients: Clients, count: int, extent: Extent) -> Round:
    """One round, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                try:
                    outcome: object = _round(port, clients, count, extent)
                except Exception as error:
                    outcome = repr(error)
                pickle.dump(outcome, pipe)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    outcome = pickle.loads(content) if content else "the client died"
    if not isinstance(outcome, Round):
        raise BadAnswer(str(outcome))
    return outcome


def _round(port: int, clients: Clients, count: int, extent: Extent) -> Round:
    connections = [Connection(port) for _ in range(count)]
    units = [clients(number) for number in range(count)]
    try:
        for connection, work in zip(connections, units, strict=True):
            for _ in range(extent.warm):
                _do(connection, next(work))
        done = Round()
        begun, used = time.perf_counter(), time.process_time()
        if count == 1:
            _one_client(connections[0], units[0], begun, extent, done)
        else:
            _many_clients(connections, units, begun, extent, done)
        done.seconds = time.perf_counter() - begun
        done.client_seconds = time.process_time() - used
        return done
    finally:
        for connection in connections:
            connection.close()


def _do(connection: Connection, unit: Unit) -> tuple[bool, int]:
    """One unit from its first request to its last answer; whether it was done, and the length of the last body."""
    length = 0
    try:
        message = next(unit)
        while True:
            reply = connection.call(message)
            length = len(reply.body)
            message = unit.send(reply)
    except StopIteration as end:
        return bool(end.value), length


def _one_client(
    connection: Connection, units: Iterator[Unit], begun: float, extent: Extent, done: Round
) -> None:
    clock, until, tries = time.perf_counter_ns, begun + extent.seconds, 0
    while tries < extent.least or time.perf_counter() < until:
        unit = next(units)
        start = clock()
        was_done, done.answer_bytes = _do(connection, unit)
        if was_done:
            done.nanoseconds.append(clock() - start)
        else:
            done.refused += 1
        tries += 1


class _Client:
    """One of many: where it is in its unit."""

    __slots__ = ("connection", "start", "tries", "unit", "units")

    def __init__(self, connection: Connection, units: Iterator[Unit]) -> None:
        self.connection = connection
        self.units = units
        self.tries = 0
        self.begin()

    def begin(self) -> None:
        self.unit = next(self.units)
        self.start = time.perf_counter_ns()
        self.connection.send(next(self.unit))


def _many_clients(
    connections: list[Connection], units: list[Iterator[Unit]], begun: float, extent: Extent, done: Round
) -> None:
    until = begun + extent.seconds
    waiting = select.epoll()
    clients = {}
    for connection, work in zip(connections, units, strict=True):
        waiting.register(connection.socket.fileno(), select.EPOLLIN)
        clients[connection.socket.fileno()] = _Client(connection, work)
    busy = len(clients)
    while busy:
        for number, _ in waiting.poll():
            client = clients[number]
            reply = client.connection.receive()
            if reply is None:
                continue
            done.answer_bytes = len(reply.body)
            try:
                client.connection.send(client.unit.send(reply))
                continue
            except StopIteration as end:
                if end.value:
                    done.nanoseconds.append(time.perf_counter_ns() - client.start)
                else:
                    done.refused += 1
            client.tries += 1
            if client.tries < extent.least or time.perf_counter() < until:
                client.begin()
            else:
                busy -= 1
    waiting.close()
