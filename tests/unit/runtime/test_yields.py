# SPDX-License-Identifier: Apache-2.0

"""Greenlets that yield: what runs before they are resumed, and in which order they are."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gevent
import gevent.socket
import pytest

from plimsoll.runtime import yields

YIELDS = [yields.yield_now, yields.yield_computation]
GREENLETS, PARTS = 8, 20


@contextmanager
def count_between_polls(done: list[int]) -> Iterator[list[int]]:
    """How many items were added to a list between two polls of the sockets, each time."""
    counts: list[int] = []
    watcher = gevent.get_hub().loop.check()
    watcher.start(lambda: counts.append(len(done) - sum(counts)))
    try:
        yield counts
    finally:
        watcher.stop()
        watcher.close()


@pytest.mark.parametrize("let_others_run", YIELDS)
def test_a_request_that_has_arrived_runs_before_what_has_yielded(let_others_run: Callable[[], None]) -> None:
    order = []
    here, there = socket.socketpair()
    with here, there:

        def serve() -> None:
            gevent.socket.wait_read(here.fileno())
            order.append("the request")

        server = gevent.spawn(serve)
        gevent.sleep(0.001)  # it waits for input now
        there.send(b"x")
        let_others_run()
        order.append("what has yielded")
        server.join()
    assert order == ["the request", "what has yielded"]


@pytest.mark.parametrize("let_others_run", YIELDS)
def test_sockets_are_polled_between_the_steps_of_many_requests(
    let_others_run: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yields, "BETWEEN_POLLS", 0.0)  # as if each step took longer
    done: list[int] = []

    def run(number: int) -> None:
        for _ in range(PARTS):
            let_others_run()
            done.append(number)

    with count_between_polls(done) as counts:
        gevent.joinall([gevent.spawn(run, number) for number in range(GREENLETS)], raise_error=True)
    assert done == [*range(GREENLETS)] * PARTS, "they take turns"
    assert max(counts) == 1


def test_short_steps_run_between_the_same_two_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yields, "BETWEEN_POLLS", 60.0)
    done: list[int] = []

    def run() -> None:
        for number in range(PARTS):
            yields.yield_now()
            done.append(number)

    with count_between_polls(done) as counts:
        gevent.spawn(run).join()
    assert len(done) == PARTS
    assert len(counts) < PARTS


def test_a_computation_runs_on_while_other_requests_have_steps_without_end() -> None:
    is_over = False

    def run_without_end() -> None:
        while not is_over:
            yields.yield_now()

    others = [gevent.spawn(run_without_end) for _ in range(GREENLETS)]
    with gevent.Timeout(60):
        for _ in range(PARTS):
            yields.yield_computation()
    is_over = True
    gevent.joinall(others, raise_error=True)


@pytest.mark.parametrize("let_others_run", YIELDS)
def test_a_greenlet_that_ends_while_it_has_yielded_is_not_resumed(
    let_others_run: Callable[[], None],
) -> None:
    resumed = []

    def run() -> None:
        try:
            let_others_run()
        except gevent.Timeout:
            gevent.sleep(0.001)  # it waits for something else, and must not be resumed before that
            resumed.append("after the timeout")

    def expire(waiting: gevent.Greenlet[..., None]) -> None:
        waiting.throw(gevent.Timeout())

    waiting = gevent.spawn(run)
    gevent.spawn(expire, waiting)
    let_others_run()
    assert resumed == []
    waiting.join()
    assert resumed == ["after the timeout"]
