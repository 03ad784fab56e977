# SPDX-License-Identifier: Apache-2.0

"""A worker that holds the head of the database dies, or stops in its tracks: the others must not wait for ever.

A proxy holds up its next message, so that it is surely in the middle of a transaction.
"""

from __future__ import annotations

import http.client
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from tests.faults.books import Books
from tests.faults.ground import Ground, through
from tests.faults.proxy import Gate, Proxy
from tests.faults.requests import new_uuid
from tests.faults.services import Line, ServiceOn, assert_unavailable
from tests.support.api import Answer
from tests.support.servers.processes import family, signal_all

ABANDONED_SECONDS = 4
LOCK_SECONDS = 1

WRITE = b"UPDATE plimsoll_head"
"""The first statement of the one message that writes and commits a claim. The head was locked by the message before it.

It is sent as text on both engines; PostgreSQL receives the statements after it by the names they were prepared under.
"""


@dataclass
class Pair:
    """A service whose messages can be held up, and one that goes straight to the server."""

    proxy: Proxy
    held: ServiceOn
    other: ServiceOn
    books: Books
    host: str

    def hold(self) -> Gate:
        """Stop the next claim at the service before it writes, while it holds the lock of the head."""
        with self.held.line() as line:
            assert line.claim(self.host).status == 204  # so that it has nothing to catch up with
        return self.proxy.hold(WRITE)

    def ask(self, consumer: str) -> Asking:
        return Asking(self.held.port, self.host, consumer)

    def workers(self) -> list[int]:
        return family(self.held.pid)[1:]


class Asking(threading.Thread):
    """A claim on its way. Its answer is None if none came."""

    def __init__(self, port: int, host: str, consumer: str) -> None:
        super().__init__(daemon=True)
        self._claim = (port, host, consumer)
        self.answer: Answer | None = None
        self.start()

    def run(self) -> None:
        port, host, consumer = self._claim
        with suppress(OSError, http.client.HTTPException), Line(port) as line:
            self.answer = line.claim(host, consumer=consumer)


@pytest.fixture(scope="module")
def one_pair(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    directory = tmp_path_factory.mktemp("services")
    patience = {"ABANDONED_SECONDS": ABANDONED_SECONDS, "LOCK_SECONDS": LOCK_SECONDS, "PATIENCE": 2.0}
    with ground.database() as url, ground.proxy() as proxy:
        held = ServiceOn(directory / "held", through(proxy, url), **patience)
        other = ServiceOn(directory / "other", url, **patience)
        books = Books(url)
        with held, other:
            yield Pair(proxy, held, other, books, "")
            other.verify()
        books.close()


@pytest.fixture
def pair(one_pair: Pair) -> Iterator[Pair]:
    with one_pair.other.line() as line:
        host = line.host(1000)
    yield replace(one_pair, host=host)
    one_pair.proxy.let_pass()
    one_pair.books.assert_sound()


def claims_until_done(line: Line, host: str) -> list[int]:
    """Claims until one is written, and returns what it was told on the way."""
    statuses: list[int] = []
    for _ in range(60):
        statuses.append(line.claim(host).status)
        if statuses[-1] == 204:
            return statuses
    raise AssertionError(f"the head is never free again: {statuses}")


def assert_reached(gate: Gate) -> None:
    assert gate.reached.wait(30), "the service sent no such message"


@pytest.mark.long
def test_a_worker_that_is_killed_with_the_head_in_its_hand_holds_up_nobody(pair: Pair) -> None:
    gate, consumer = pair.hold(), new_uuid()
    asking = pair.ask(consumer)
    assert_reached(gate)
    signal_all(pair.workers(), signal.SIGKILL)
    with pair.other.line() as line:
        assert line.claim(pair.host).status == 204
        assert line.used(pair.host) == 2
    asking.join(60)
    assert asking.answer is None
    assert pair.books.holders([pair.host])[consumer] == 0
    pair.held.wait()
    with pair.held.line() as line:
        assert line.used(pair.host) == 2


@pytest.mark.long
def test_a_worker_that_stands_still_loses_the_head_and_writes_nothing_twice(pair: Pair) -> None:
    gate, consumer = pair.hold(), new_uuid()
    asking = pair.ask(consumer)
    assert_reached(gate)
    stopped = pair.workers()
    signal_all(stopped, signal.SIGSTOP)
    try:
        with pair.other.line() as line:
            statuses = claims_until_done(line, pair.host)
        assert set(statuses[:-1]) <= {503}
        assert pair.books.holders([pair.host])[consumer] == 0
        gate.open()
    finally:
        signal_all(stopped, signal.SIGCONT)
    asking.join(60)
    assert asking.answer is not None
    if asking.answer.status != 204:  # its time was up while it stood still
        assert_unavailable(asking.answer)
    written = int(asking.answer.status == 204)
    assert pair.books.holders([pair.host])[consumer] == written
    for service in (pair.held, pair.other):
        with service.line() as line:
            assert line.used(pair.host) == 2 + written
