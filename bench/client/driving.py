# SPDX-License-Identifier: Apache-2.0

"""Run clients: each runs one unit after the other on its own connection, and the time of every unit is recorded.

All clients of a round share one separate process that polls all sockets, which costs the machine least. The processor
time of that process is measured and returned with the times.
"""

from __future__ import annotations

import os
import pickle
import select
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

from bench.client.http import Connection, Response, UnexpectedResponse

Unit = Generator[bytes, Response, bool]
"""One unit of work: yields requests, receives their responses, and returns True if it was done, False if refused."""

Clients = Callable[[int], Iterator[Unit]]
"""Returns the endless units of the client with this number."""


@dataclass(slots=True)
class Round:
    """The figures of one round of one server."""

    nanoseconds: list[int] = field(default_factory=list)
    """Time of each completed unit."""
    refused: int = 0
    seconds: float = 0.0
    client_seconds: float = 0.0
    """Processor time of the client process."""
    answer_bytes: int = 0
    """Length of the last body."""

    @property
    def rate(self) -> float:
        return len(self.nanoseconds) / self.seconds

    @property
    def client_per_unit(self) -> float:
        return self.client_seconds / max(1, len(self.nanoseconds) + self.refused)


@dataclass(frozen=True, slots=True)
class RoundLength:
    """Length of a round: a minimum time and a minimum number of units per client, after a warm-up."""

    seconds: float
    min_units: int = 1
    warmup_units: int = 1


def drive(ports: Sequence[int], clients: Clients, count: int, round_length: RoundLength) -> Round:
    """Run one round in a separate process. Clients are spread over the ports."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                try:
                    outcome: object = _round(ports, clients, count, round_length)
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
        raise UnexpectedResponse(str(outcome))
    return outcome


def _round(ports: Sequence[int], clients: Clients, count: int, round_length: RoundLength) -> Round:
    connections = [Connection(ports[number % len(ports)]) for number in range(count)]
    units = [clients(number) for number in range(count)]
    try:
        for connection, client_units in zip(connections, units, strict=True):
            for _ in range(round_length.warmup_units):
                run_unit(connection, next(client_units))
        done = Round()
        start_time, used = time.perf_counter(), time.process_time()
        if count == 1:
            one_client(connections[0], units[0], start_time, round_length, done)
        else:
            _many_clients(connections, units, start_time, round_length, done)
        done.seconds = time.perf_counter() - start_time
        done.client_seconds = time.process_time() - used
        return done
    finally:
        for connection in connections:
            connection.close()


def run_unit(connection: Connection, unit: Unit) -> tuple[bool, int]:
    """Run one unit; return whether it was done, and the length of the last body."""
    length = 0
    try:
        message = next(unit)
        while True:
            response = connection.call(message)
            length = len(response.body)
            message = unit.send(response)
    except StopIteration as end:
        return bool(end.value), length


def one_client(
    connection: Connection, units: Iterator[Unit], start_time: float, round_length: RoundLength, done: Round
) -> None:
    clock, until, tries = time.perf_counter_ns, start_time + round_length.seconds, 0
    while tries < round_length.min_units or time.perf_counter() < until:
        unit = next(units)
        start = clock()
        is_done, done.answer_bytes = run_unit(connection, unit)
        if is_done:
            done.nanoseconds.append(clock() - start)
        else:
            done.refused += 1
        tries += 1


class _Client:
    """One of several concurrent clients, with its current unit."""

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
    connections: list[Connection],
    units: list[Iterator[Unit]],
    start_time: float,
    round_length: RoundLength,
    done: Round,
) -> None:
    until = start_time + round_length.seconds
    epoll = select.epoll()
    clients = {}
    for connection, client_units in zip(connections, units, strict=True):
        epoll.register(connection.socket.fileno(), select.EPOLLIN)
        clients[connection.socket.fileno()] = _Client(connection, client_units)
    active = len(clients)
    while active:
        for number, _ in epoll.poll():
            client = clients[number]
            response = client.connection.receive()
            if response is None:
                continue
            done.answer_bytes = len(response.body)
            try:
                client.connection.send(client.unit.send(response))
                continue
            except StopIteration as end:
                if end.value:
                    done.nanoseconds.append(time.perf_counter_ns() - client.start)
                else:
                    done.refused += 1
            client.tries += 1
            if client.tries < round_length.min_units or time.perf_counter() < until:
                client.begin()
            else:
                active -= 1
    epoll.close()
