# SPDX-License-Identifier: Apache-2.0

"""Run clients as processes: each client has a process and a connection of its own, as the services of a cloud have.

All clients begin at the same time. What is measured beside them, such as processor times, is sampled when they begin and when
they end.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bench.client.driving import Clients, Round, RoundLength, one_client, run_unit
from bench.client.http import Connection, UnexpectedResponse

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Phase(Generic[T]):
    """The rounds of all clients, and the samples at the begin and at the end."""

    rounds: list[Round]
    before: T
    after: T


def drive_processes(
    ports: Sequence[int],
    clients: Clients,
    count: int,
    seconds: float,
    sample: Callable[[], T],
    warmup_seconds: float = 0.5,
) -> Phase[T]:
    """Run one round of clients, which are spread over the ports. Each warms up, then works for so many seconds."""
    start = time.perf_counter() + warmup_seconds
    children = [
        _fork(ports[number % len(ports)], clients, number, start, RoundLength(seconds))
        for number in range(count)
    ]
    time.sleep(max(0.0, start - time.perf_counter()))
    before = sample()
    time.sleep(max(0.0, start + seconds - time.perf_counter()))
    after = sample()
    outcomes = [_outcome(child, reading) for child, reading in children]
    failures = [each for each in outcomes if not isinstance(each, Round)]
    if failures:
        raise UnexpectedResponse(str(failures[0]))
    return Phase([each for each in outcomes if isinstance(each, Round)], before, after)


def _fork(
    port: int, clients: Clients, number: int, start: float, round_length: RoundLength
) -> tuple[int, int]:
    """Start the process of one client. Return its id, and the descriptor from which its outcome can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            try:
                outcome: object = _run(port, clients, number, start, round_length)
            except Exception as error:
                outcome = repr(error)
            pickle.dump(outcome, pipe)
        status = 0
    finally:
        os._exit(status)


def _run(port: int, clients: Clients, number: int, start: float, round_length: RoundLength) -> Round:
    connection, units, done = Connection(port), clients(number), Round()
    run_unit(connection, next(units))
    while time.perf_counter() < start:
        run_unit(connection, next(units))
    used = time.process_time()
    one_client(connection, units, start, round_length, done)
    done.seconds = time.perf_counter() - start
    done.client_seconds = time.process_time() - used
    return done


def _outcome(child: int, reading: int) -> object:
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(content) if content else "a client died"
