# SPDX-License-Identifier: Apache-2.0

"""Waiting, waking and yielding, with threads and with gevent.

The interpreter switches between threads by itself. Where all requests of a process share one thread (gevent), a request
runs only while every other one waits: a long computation yields at intervals, or is offloaded to a thread pool.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, TypeVar

T = TypeVar("T")

YIELD_INTERVAL_SECONDS = 0.0003
"""For which a long computation runs before it yields to other requests again."""
FIRST_YIELD_SECONDS = 0.005
"""After which a computation yields for the first time: a batch of common size is decided without a switch."""


class ConcurrencyGauge:
    """The number of `with` blocks that are entered at present, and its recent maximum. The server counts with it."""

    __slots__ = ("_maximum", "count")

    def __init__(self) -> None:
        self.count = 0
        self._maximum = 0

    def __enter__(self) -> None:
        self.count += 1
        if self.count > self._maximum:
            self._maximum = self.count

    def __exit__(self, *_: object) -> None:
        self.count -= 1

    def recent_maximum(self) -> int:
        """Return the recent maximum of `count`. Each call lowers it by one, down to the current count."""
        maximum = self._maximum
        if maximum > self.count:
            self._maximum -= 1
        return maximum


OPEN_CONNECTIONS = ConcurrencyGauge()
"""Connections of clients that are open."""
ACTIVE_REQUESTS = ConcurrencyGauge()
"""Requests that are being processed."""


class ClientTracker:
    """Detects whether one client sends all requests, or several clients do."""

    __slots__ = ("_last", "_repeats")

    def __init__(self) -> None:
        self._last: object = None
        self._repeats = 0

    def record_request(self, client: object) -> None:
        """Record that this client has sent a request."""
        if client is self._last:
            self._repeats += 1
        else:
            self._last, self._repeats = client, 0

    @property
    def is_single_client(self) -> bool:
        """True if the last three requests came from one client and no other request is being processed."""
        return self._repeats > 1 and ACTIVE_REQUESTS.count <= 1


CLIENT_TRACKER = ClientTracker()
"""The clients of this process."""


class Event:
    """An event for one waiter that resets itself: a wait that succeeds clears it, and it can be set again."""

    __slots__ = ("_unset",)

    def __init__(self) -> None:
        self._unset = threading.Lock()
        """Locked while the event is not set."""
        self._unset.acquire()

    def set(self) -> None:
        self._unset.release()

    def wait(self, seconds: float = -1) -> bool:
        """Wait until the event is set, and clear it. False if it was not set in time; -1 waits without a limit."""
        return self._unset.acquire(timeout=seconds)


class GreenletEvent(Event):
    """The same for greenlets. They switch only where they wait, so it needs no lock: a lock takes twice as long."""

    __slots__ = ("_gevent", "_is_set", "_waiting")

    def __init__(self, gevent: Any) -> None:
        self._gevent = gevent
        self._is_set = False
        self._waiting: Any = None

    def set(self) -> None:
        self._is_set = True
        if self._waiting is not None:
            self._gevent.get_hub().loop.run_callback(self._resume_if_set)

    def wait(self, seconds: float = -1) -> bool:
        if not self._is_set:
            hub = self._gevent.get_hub()
            timer = None if seconds < 0 else hub.loop.timer(seconds)
            self._waiting = self._gevent.getcurrent()
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


def new_event() -> Event:
    """Return an event for the kind of concurrency that this process uses: threads or greenlets."""
    gevent = _gevent()
    return Event() if gevent is None else GreenletEvent(gevent)


class BusyPoll:
    """Polls a descriptor in a loop for input that is expected soon: faster than to sleep and to be woken.

    The loop blocks all other requests. So it runs only while one client sends all requests, only if the last wait was
    short, and for no longer than the time since the last wait ended: it takes at most half of the process's time.
    `with busy_poll: busy_poll.poll_until_readable(descriptor)`, followed in the block by the read, which may sleep.
    """

    __slots__ = ("_ended", "_limit", "_started", "_was_short")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        """Seconds after which the loop ends."""
        self._started = self._ended = 0.0
        self._was_short = False

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._ended = time.perf_counter()
        # Twice the limit: a wait that has slept includes the time that it takes to be woken.
        self._was_short = self._ended - self._started < 2 * self._limit

    def poll_until_readable(self, descriptor: int | None) -> bool:
        """Poll until there is input or the limit has passed; True if there is input. Without descriptor, False."""
        if descriptor is None or descriptor < 0 or not (self._was_short and CLIENT_TRACKER.is_single_client):
            return False
        until = self._started + min(self._limit, self._started - self._ended)
        while not has_input(descriptor):
            if time.perf_counter() > until:
                return False
            os.sched_yield()
        return True


def yield_to_requests() -> None:
    """Yield to other requests, including requests that have arrived but were not read from their sockets yet."""
    if _gevent() is None:
        time.sleep(0)
    else:
        from plimsoll.runtime.yields import yield_now

        yield_now()


def yield_to_ready_greenlets() -> None:
    """Yield to greenlets that are ready. Sockets are not polled, so it is cheaper than `yield_to_requests`."""
    time.sleep(0)


class PeriodicYield:
    """Yields to other requests about every 0.3 milliseconds of a long computation, which calls it at each step.

    Without gevent it does nothing: the interpreter switches between threads by itself.
    """

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = float("inf") if _gevent() is None else time.perf_counter() + FIRST_YIELD_SECONDS

    def __call__(self) -> None:
        if time.perf_counter() >= self._next:
            yield_to_requests()
            self._next = time.perf_counter() + YIELD_INTERVAL_SECONDS


def iterate_with_yields(items: Iterable[T]) -> Iterator[T]:
    """Iterate over items that take a few microseconds each, and yield to other requests at intervals."""
    yield_if_due = PeriodicYield()
    for number, item in enumerate(items, 1):
        yield item
        if not number % _ITEMS_PER_CHECK:
            yield_if_due()


_ITEMS_PER_CHECK = 32


def yield_to_pending() -> None:
    """Yield before shared work, so that requests that are ready can join it. Skipped for a single connection."""
    if OPEN_CONNECTIONS.count > 1:
        yield_to_ready_greenlets()


def offload(work: Callable[[], T]) -> T:
    """Run work in gevent's thread pool and return its result; without gevent, run it here.

    It must neither take a lock nor use a connection to a server: both belong to the thread of the caller.
    """
    gevent = _gevent()
    if gevent is None:
        return work()
    result: T = gevent.get_hub().threadpool.apply(work)
    return result


class TimeLimitExceeded(Exception):
    """The block of a `time_limit` took too long."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt the block with TimeLimitExceeded after this many seconds, wherever it waits.

    Threads cannot be interrupted: where there is no gevent, the block itself has to keep the limit.
    """
    gevent = _gevent()
    if gevent is None:
        yield
        return
    timer = gevent.Timeout.start_new(seconds)
    try:
        yield
    except gevent.Timeout as expired:
        if expired is not timer:
            raise
        raise TimeLimitExceeded from None
    finally:
        timer.close()


class InlineOrOffload:
    """Runs work inline while it is fast; after a slow run, offloads the next 16 runs to a thread.

    Fast work takes no longer than the hand-over to a thread. During a slow inline run no other request runs.
    """

    __slots__ = ("_limit", "_offloads_left")

    def __init__(self, limit: float) -> None:
        self._limit = limit
        """Seconds. A run that takes longer is slow."""
        self._offloads_left = 0

    @property
    def is_offloading(self) -> bool:
        """True if the next run is offloaded, so that other requests run meanwhile."""
        return self._offloads_left > 0

    def run(self, work: Callable[[], T]) -> T:
        """Return the result of the work. With a single active request it always runs inline."""
        if self._offloads_left:
            self._offloads_left -= 1
            return offload(work) if ACTIVE_REQUESTS.count > 1 else work()
        begun = time.perf_counter()
        try:
            return work()
        finally:
            if time.perf_counter() - begun > self._limit:
                self._offloads_left = _OFFLOADS_AFTER_SLOW_RUN


_OFFLOADS_AFTER_SLOW_RUN = 16


def wait_for_input(descriptor: int, seconds: float) -> None:
    """Wait until the descriptor has input. Raises TimeoutError if none arrives in time.

    gevent's own `poll` takes twice as long as its `wait_read`.
    """
    gevent = _gevent()
    if gevent is not None:
        gevent.socket.wait_read(descriptor, seconds, TimeoutError())
    else:
        _poll(descriptor, select.POLLIN, seconds)


def wait_for_input_or_output_space(descriptor: int, seconds: float) -> None:
    """Wait until the descriptor can be read from or written to. Raises TimeoutError if neither is possible in time."""
    gevent = _gevent()
    if gevent is not None:
        gevent.socket.wait_readwrite(descriptor, seconds, TimeoutError())
    else:
        _poll(descriptor, select.POLLIN | select.POLLOUT, seconds)


def _poll(descriptor: int, events: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(descriptor, events)
    if not poll.poll(seconds * 1000):
        raise TimeoutError


def has_input(descriptor: int) -> bool:
    """True if a read would not block: there is input, or the other side has closed the connection."""
    return bool(_poll_function(descriptor)(0))


@lru_cache(maxsize=64)
def _poll_function(descriptor: int) -> Callable[[int], list[tuple[int, int]]]:
    """Return a function that polls a descriptor. It stays valid when the descriptor's number is used again."""
    gevent = _gevent()
    # gevent's own poll switches to other greenlets, which takes longer than the poll.
    poll = (select.poll if gevent is None else gevent.monkey.get_original("select", "poll"))()
    poll.register(descriptor, select.POLLIN)
    function: Callable[[int], list[tuple[int, int]]] = poll.poll
    return function


@cache
def _gevent() -> Any:
    """Return gevent if all requests of this process share one thread, else None."""
    patches = sys.modules.get("gevent.monkey")
    if patches is None or not patches.is_module_patched("threading"):
        return None
    import gevent.monkey
    import gevent.socket

    return gevent
