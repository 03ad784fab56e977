# SPDX-License-Identifier: Apache-2.0

"""The runtime with greenlets: the order in which they run, offloading, and time limits."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gevent
import gevent.socket
import pytest

from plimsoll.runtime import greenlets
from plimsoll.runtime.base import TimeLimitExceeded
from plimsoll.runtime.greenlets import Greenlets

RUNTIME = Greenlets()
YIELDS = [RUNTIME.yield_now, RUNTIME.yield_computation]
GREENLETS, PARTS = 8, 20


@contextmanager
def count_between_polls(done: list[int]) -> Iterator[list[int]]:
    """Count the items that are added to a list between two polls of the sockets."""
    counts: list[int] = []
    watcher = gevent.get_hub().loop.check()
    watcher.start(lambda: counts.append(len(done) - sum(counts)))
    try:
        yield counts
    finally:
        watcher.stop()
        watcher.close()


@pytest.mark.parametrize("yield_function", YIELDS)
def test_a_request_that_has_arrived_runs_before_a_greenlet_that_has_yielded(
    yield_function: Callable[[], None],
) -> None:
    order = []
    here, there = socket.socketpair()
    with here, there:

        def serve() -> None:
            gevent.socket.wait_read(here.fileno())
            order.append("the request")

        server = gevent.spawn(serve)
        gevent.sleep(0.001)  # the server waits for input now
        there.send(b"x")
        yield_function()
        order.append("the greenlet that has yielded")
        server.join()
    assert order == ["the request", "the greenlet that has yielded"]


@pytest.mark.parametrize("yield_function", YIELDS)
def test_sockets_are_polled_between_the_steps_of_many_requests(
    yield_function: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(greenlets, "BETWEEN_POLLS", 0.0)  # as if each step took longer
    done: list[int] = []

    def run(number: int) -> None:
        for _ in range(PARTS):
            yield_function()
            done.append(number)

    with count_between_polls(done) as counts:
        gevent.joinall([gevent.spawn(run, number) for number in range(GREENLETS)], raise_error=True)
    assert done == [*range(GREENLETS)] * PARTS, "they run in rotation"
    assert max(counts) == 1


def test_short_steps_run_between_the_same_two_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greenlets, "BETWEEN_POLLS", 60.0)
    done: list[int] = []

    def run() -> None:
        for number in range(PARTS):
            RUNTIME.yield_now()
            done.append(number)

    with count_between_polls(done) as counts:
        gevent.spawn(run).join()
    assert len(done) == PARTS
    assert len(counts) < PARTS


def test_a_computation_progresses_while_other_requests_yield_without_end() -> None:
    is_over = False

    def yield_without_end() -> None:
        while not is_over:
            RUNTIME.yield_now()

    others = [gevent.spawn(yield_without_end) for _ in range(GREENLETS)]
    with gevent.Timeout(60):
        for _ in range(PARTS):
            RUNTIME.yield_computation()
    is_over = True
    gevent.joinall(others, raise_error=True)


@pytest.mark.parametrize("yield_function", YIELDS)
def test_a_greenlet_whose_yield_was_interrupted_is_not_resumed(yield_function: Callable[[], None]) -> None:
    resumed = []

    def run() -> None:
        try:
            yield_function()
        except gevent.Timeout:
            gevent.sleep(0.001)  # waits for something else; the queue must not resume it
            resumed.append("after the timeout")

    def expire(waiting: gevent.Greenlet[..., None]) -> None:
        waiting.throw(gevent.Timeout())

    waiting = gevent.spawn(run)
    gevent.spawn(expire, waiting)
    yield_function()
    assert resumed == []
    waiting.join()
    assert resumed == ["after the timeout"]


def test_other_greenlets_run_while_work_is_offloaded() -> None:
    go_on = threading.Event()
    gevent.spawn(go_on.set)
    main_thread = threading.get_ident()
    assert RUNTIME.offload(lambda: go_on.wait(10) and threading.get_ident()) not in (False, main_thread)


def test_a_long_computation_yields_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime, yields = Greenlets(), []
    now = 100.0
    monkeypatch.setattr(runtime, "yield_now", lambda: yields.append(now))
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    yield_if_due = runtime.periodic_yield()
    for milliseconds in (4, 6, 6.1, 6.4):
        now = 100 + milliseconds / 1000
        yield_if_due()
    assert yields == [100.006, 100.0064]


def test_a_long_iteration_yields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greenlets, "FIRST_YIELD_SECONDS", 0.0)
    done: list[str] = []
    other = gevent.spawn(lambda: done.append("other"))
    for _ in RUNTIME.iterate_with_yields(range(100)):
        pass
    assert done == ["other"]
    other.join()


def test_a_greenlet_is_interrupted_after_the_time_limit_wherever_it_waits() -> None:
    began = time.monotonic()
    with pytest.raises(TimeLimitExceeded), RUNTIME.time_limit(0.01):
        gevent.sleep(60)
    assert time.monotonic() - began < 30


def test_the_timeout_of_an_outer_block_is_not_taken_for_the_time_limit() -> None:
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.01), RUNTIME.time_limit(60):
        gevent.sleep(60)


def test_a_connection_that_the_peer_has_closed_is_detected_before_its_input_is_read() -> None:
    here, there = socket.socketpair()
    with here:
        there.send(b"x")
        assert not RUNTIME.is_closed_by_peer(here.fileno())
        there.close()
        assert RUNTIME.is_closed_by_peer(here.fileno())
        assert here.recv(1) == b"x"
