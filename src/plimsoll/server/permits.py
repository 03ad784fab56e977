# SPDX-License-Identifier: Apache-2.0

"""Permits: how many requests a worker processes at a time, and how they yield to each other."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator

import gevent
from gevent.lock import BoundedSemaphore

from plimsoll.permit import Permit
from plimsoll.runtime import memory
from plimsoll.runtime.greenlets import Greenlets

_MEMORY_POLL_SECONDS = 0.01


class Permits:
    """The permits of one worker."""

    def __init__(
        self, runtime: Greenlets, count: int, timeout: float, has_memory: Callable[[], bool] = lambda: True
    ) -> None:
        self.runtime = runtime
        self.timeout = timeout
        self.has_memory = has_memory
        """False if the responses that clients have not received take too much memory for another long one."""
        self.free = BoundedSemaphore(count)


class RequestPermit(Permit):
    """The permit of one request. `descriptor` is that of its connection."""

    def __init__(self, permits: Permits, descriptor: int) -> None:
        self._permits = permits
        self._descriptor = descriptor
        self._is_held = False
        self.is_stream = False
        """True if the application sends a stream: see `Permit.begin_stream`."""

    longest_wait = math.inf

    def begin_stream(self) -> None:
        self.is_stream = True

    def acquire(self) -> bool:
        """Wait for a permit; False if none was free in time."""
        free = self._permits.free
        if not free.acquire(blocking=False):
            since = time.monotonic()
            if not free.acquire(timeout=self._permits.timeout):
                return False
            self.waited = time.monotonic() - since
        self._is_held = True
        return True

    def finish(self) -> None:
        """Release the permit if the request holds it."""
        if self._is_held:
            self._is_held = False
            self._permits.free.release()

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        was_held = self._is_held
        self.finish()
        try:
            yield
        finally:
            if was_held:
                # After the timeout it continues without one: the wait is over, and the database has its own limits.
                self._is_held = self._permits.free.acquire(timeout=self._permits.timeout)

    def pause(self) -> None:
        self.finish()
        self._permits.runtime.yield_computation()

    def begin_computation(self) -> None:
        if self._permits.runtime.are_computations_waiting:
            self.pause()

    def wait_for_memory(self) -> bool:
        end = time.monotonic() + self._permits.timeout
        while not self._permits.has_memory():
            if time.monotonic() > end:
                return False
            gevent.sleep(_MEMORY_POLL_SECONDS)
        return True

    def is_client_gone(self) -> bool:
        return self._permits.runtime.is_closed_by_peer(self._descriptor)

    def periodic_yield(self) -> Callable[[], None]:
        return self._permits.runtime.periodic_yield()

    def trim_memory(self) -> None:
        memory.trim()
