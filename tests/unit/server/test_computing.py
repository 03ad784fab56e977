# SPDX-License-Identifier: Apache-2.0

"""Long computations of one worker: one part of one of them runs between two polls of the sockets."""

from __future__ import annotations

import gevent

from plimsoll.runtime.greenlets import Greenlets
from plimsoll.server.permits import Permits, RequestPermit

COMPUTATIONS, PARTS = 8, 20


def test_sockets_are_polled_between_the_parts_of_all_long_computations() -> None:
    permits = Permits(Greenlets(), COMPUTATIONS, 60)
    parts: list[int] = []
    since_poll: list[int] = []

    def compute(number: int) -> None:
        permit = RequestPermit(permits, -1)
        assert permit.acquire()
        for _ in range(PARTS):
            permit.pause()
            parts.append(number)
        permit.finish()

    def polled() -> None:
        since_poll.append(len(parts) - sum(since_poll))

    watcher = gevent.get_hub().loop.check()
    watcher.start(polled)
    try:
        gevent.joinall([gevent.spawn(compute, number) for number in range(COMPUTATIONS)], raise_error=True)
    finally:
        watcher.stop()
        watcher.close()
    assert len(parts) == COMPUTATIONS * PARTS
    assert max(since_poll) == 1
    assert sorted(parts[:COMPUTATIONS]) == list(range(COMPUTATIONS)), "they take turns"


def test_a_computation_that_waits_for_something_else_lets_others_compute() -> None:
    permits = Permits(Greenlets(), 2, 60)
    first, second = RequestPermit(permits, -1), RequestPermit(permits, -1)
    assert first.acquire()
    assert second.acquire()
    first.pause()
    with first.released():
        with gevent.Timeout(60):
            second.pause()
        second.finish()
    first.finish()


def test_a_computation_begins_after_those_that_wait_already() -> None:
    permits = Permits(Greenlets(), 2, 60)
    order: list[str] = []

    def compute(name: str) -> None:
        permit = RequestPermit(permits, -1)
        assert permit.acquire()
        permit.begin_computation()
        order.append(name)
        permit.pause()
        order.append(name)
        permit.finish()

    gevent.joinall([gevent.spawn(compute, name) for name in ("first", "second")], raise_error=True)
    assert order == ["first", "first", "second", "second"]
