# SPDX-License-Identifier: Apache-2.0

"""The runtime of `plimsoll serve`: all requests of a worker share one thread, each in a greenlet (gevent).

A greenlet runs until it waits or yields. gevent has replaced locks, sockets and sleeps by its own before this module is
imported.
"""

from __future__ import annotations

import contextlib
import select
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeVar

import gevent
import gevent.socket
from gevent import get_hub, getcurrent, monkey
from greenlet import greenlet

from plimsoll.runtime.base import Event, Runtime, TimeLimitExceeded
from plimsoll.runtime.yields import yield_now

T = TypeVar("T")

YIELD_INTERVAL_SECONDS = 0.0003
"""For which a long computation runs before it yields to other requests again."""
FIRST_YIELD_SECONDS = 0.005
"""After which a computation yields for the first time: a batch of common size is decided without a switch."""


class Greenlets(Runtime):
    def new_event(self) -> Event:
        return _GreenletEvent()

    def yield_now(self) -> None:
        yield_now()

    def yield_to_ready(self) -> None:
        gevent.sleep(0)

    def periodic_yield(self) -> Callable[[], None]:
        return _PeriodicYield()

    def offload(self, work: Callable[[], T]) -> T:
        result: T = get_hub().threadpool.apply(work)
        return result

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
        # gevent's own `poll` takes twice as long.
        gevent.socket.wait_read(descriptor, seconds, TimeoutError())

    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        gevent.socket.wait_readwrite(descriptor, seconds, TimeoutError())

    def has_input(self, descriptor: int) -> bool:
        return bool(_poll_function(descriptor)(0))


class _PeriodicYield:
    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = time.perf_counter() + FIRST_YIELD_SECONDS

    def __call__(self) -> None:
        if time.perf_counter() >= self._next:
            yield_now()
            self._next = time.perf_counter() + YIELD_INTERVAL_SECONDS


class _GreenletEvent:
    """Greenlets switch only where they wait, so it needs no lock."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        self._is_set = False
        self._waiting: greenlet | None = None

    def set(self) -> None:
        self._is_set = True
        if self._waiting is not None:
            get_hub().loop.run_callback(self._resume_if_set)

    def wait(self, seconds: float = -1) -> bool:
        if not self._is_set:
            hub = get_hub()
            timer = None if seconds < 0 else hub.loop.timer(seconds)
            self._waiting = getcurrent()
            try:
                if timer is not None:
                    timer.start(self._resume)
                hub.switch()
            finally:
                self._waiting = None
                if timer is not None:
                    timer.close()
        was_set, self._is_set = self._is_set, False
        return was_set

    def _resume_if_set(self) -> None:
        """Resume the waiter. If the event is not set, that wait has timed out meanwhile and a later one has begun."""
        if self._is_set:
            self._resume()

    def _resume(self) -> None:
        """Switch to the waiting greenlet, once: after it was resumed it may wait for something else."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.switch()


@lru_cache(maxsize=64)
def _poll_function(descriptor: int) -> Callable[[int], list[tuple[int, int]]]:
    """Return a function that polls a descriptor. It stays valid when the descriptor's number is used again.

    The system's own poll: gevent's switches to other greenlets, which takes longer than the poll.
    """
    poll: select.poll = monkey.get_original("select", "poll")()
    poll.register(descriptor, select.POLLIN)
    return poll.poll
