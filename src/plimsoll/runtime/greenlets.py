# SPDX-License-Identifier: Apache-2.0

"""The runtime of `plimsoll serve`: all requests of a worker share one thread, each in a greenlet (gevent).

A greenlet runs until it waits or yields. gevent has replaced locks, sockets and sleeps by its own before this module is
imported.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

import gevent
import gevent.socket
from gevent import get_hub, getcurrent, monkey
from gevent.hub import Hub
from gevent.thread import LockType  # type: ignore[import-not-found]  # types-gevent lacks it
from greenlet import greenlet

from plimsoll.runtime.base import Event, Runtime, TimeLimitExceeded

T = TypeVar("T")

YIELD_INTERVAL_SECONDS = 0.0002
"""For which a long computation runs before it yields to other requests again."""
FIRST_YIELD_SECONDS = 0.005
"""After which a computation yields for the first time: a batch of common size is decided without a switch."""
BETWEEN_POLLS = 0.0001
"""Seconds for which short steps run between two polls of the sockets. At least one step runs."""

_SHORTEST_TIMER = 1e-6
"""Seconds. Even the shortest timer expires after the next poll of the sockets."""
_LOWEST_PRIORITY = -2  # the lowest of gevent's loop
_READABLE = 1  # libev's EV_READ
_SYSTEM_POLL = monkey.get_original("select", "poll")
_CLOSED = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class Greenlets(Runtime):
    def __init__(self) -> None:
        super().__init__()
        self._yield_queues: dict[Hub, _YieldQueue] = {}
        """By hub, of which each thread has one. The requests of a worker use one thread, and so one queue."""

    def new_event(self) -> Event:
        return Event(LockType())

    def yield_now(self) -> None:
        self._yield_queue().wait()

    def yield_computation(self) -> None:
        """Yield to other requests. Computations that yield with this function are resumed in rotation."""
        self._yield_queue().wait(is_computation=True)

    @property
    def are_computations_waiting(self) -> bool:
        return self._yield_queue().are_computations_waiting

    def yield_to_ready(self) -> None:
        gevent.sleep(0)

    def periodic_yield(self) -> Callable[[], None]:
        next_yield = time.perf_counter() + FIRST_YIELD_SECONDS

        def yield_if_due() -> None:
            nonlocal next_yield
            if time.perf_counter() >= next_yield:
                self.yield_now()
                next_yield = time.perf_counter() + YIELD_INTERVAL_SECONDS

        return yield_if_due

    def offload(self, work: Callable[[], T]) -> T:
        results: list[T] = []
        errors: list[Exception] = []

        def run() -> None:
            try:
                results.append(work())
            except Exception as error:  # gevent would print it, in addition to raising it
                errors.append(error)

        get_hub().threadpool.apply(run)
        if errors:
            raise errors.pop()
        return results.pop()

    @contextlib.contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        timer = gevent.Timeout.start_new(seconds)
        try:
            yield
        except gevent.Timeout as expired:
            if expired is not timer:
                raise
            raise TimeLimitExceeded from None
        finally:
            timer.close()

    def wait_for_input(self, descriptor: int, seconds: float) -> None:
        # As gevent's `wait_read`, whose `Timeout` takes as long as all the rest of a wait.
        hub = get_hub()
        timer, watcher = hub.loop.timer(seconds), hub.loop.io(descriptor, _READABLE)
        timer.start(getcurrent().throw, TimeoutError(), update=True)
        try:
            hub.wait(watcher)
        finally:
            timer.close()
            watcher.close()

    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        gevent.socket.wait_readwrite(descriptor, seconds, TimeoutError())

    def has_input(self, descriptor: int) -> bool:
        return _poll_now(descriptor, select.POLLIN)

    def is_closed_by_peer(self, descriptor: int) -> bool:
        """True if the other side has closed the connection, even if there is input that was not read yet."""
        return _poll_now(descriptor, _CLOSED)

    def _yield_queue(self) -> _YieldQueue:
        hub = get_hub()
        queue = self._yield_queues.get(hub)
        if queue is None:
            queue = self._yield_queues[hub] = _YieldQueue(hub)
        return queue


class _YieldQueue:
    """The greenlets of one thread that have yielded, so that a new request does not wait for all of them.

    gevent runs everything that is ready between two polls of the sockets: 16 requests that yield at the same time would
    all run on before a request that has just arrived. Here they wait in a queue, and a few of them are resumed after
    each poll. The timer that resumes them has the lowest priority: it runs after the callbacks of all sockets that have
    input.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._timer = hub.loop.timer(_SHORTEST_TIMER, priority=_LOWEST_PRIORITY)
        self._is_started = False
        self._steps: deque[greenlet] = deque()
        self._computations: deque[greenlet] = deque()

    def wait(self, *, is_computation: bool = False) -> None:
        """Yield to other greenlets, including greenlets whose sockets were not polled yet.

        One computation is resumed after each poll of the sockets.
        """
        queue = self._computations if is_computation else self._steps
        current = getcurrent()
        queue.append(current)
        self._start()
        try:
            self._hub.switch()
        except BaseException:  # a timeout, or the end of the greenlet
            with contextlib.suppress(ValueError):
                queue.remove(current)
            raise

    @property
    def are_computations_waiting(self) -> bool:
        return bool(self._computations)

    def _start(self) -> None:
        if not self._is_started:
            self._is_started = True
            self._timer.start(self._resume)

    def _resume(self) -> None:
        self._is_started = False
        end = time.perf_counter() + BETWEEN_POLLS
        while self._steps:
            self._steps.popleft().switch()
            if time.perf_counter() >= end:
                break
        if self._computations:
            self._computations.popleft().switch()
        if self._steps or self._computations:
            self._start()


def _poll_now(descriptor: int, events: int) -> bool:
    """Poll without waiting, by the system's own poll: gevent's switches to other greenlets."""
    poll: select.poll = _SYSTEM_POLL()
    poll.register(descriptor, events)
    return bool(poll.poll(0))
