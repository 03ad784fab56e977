# SPDX-License-Identifier: Apache-2.0

"""The functions of a runtime for modules that get no runtime passed in. It is found by looking for gevent's patches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

from plimsoll.runtime.base import ConcurrencyGauge, Event, Runtime
from plimsoll.runtime.threads import Threads

__all__ = ["ConcurrencyGauge", "Event"]

T = TypeVar("T")

ACTIVE_REQUESTS = ConcurrencyGauge()


@cache
def _runtime() -> Runtime:
    patches = sys.modules.get("gevent.monkey")
    if patches is None or not patches.is_module_patched("threading"):
        return Threads()
    from plimsoll.runtime.greenlets import Greenlets

    return Greenlets()


def new_event() -> Event:
    return _runtime().new_event()


def yield_to_requests() -> None:
    _runtime().yield_now()


def yield_to_ready_greenlets() -> None:
    _runtime().yield_to_ready()


def yield_to_pending() -> None:
    _runtime().yield_to_ready()


def offload(work: Callable[[], T]) -> T:
    return _runtime().offload(work)


def wait_for_input(descriptor: int, seconds: float) -> None:
    _runtime().wait_for_input(descriptor, seconds)


def wait_for_input_or_output_space(descriptor: int, seconds: float) -> None:
    _runtime().wait_for_input_or_output_space(descriptor, seconds)


def has_input(descriptor: int) -> bool:
    return _runtime().has_input(descriptor)


def iterate_with_yields(items: Iterable[T]) -> Iterator[T]:
    return _runtime().iterate_with_yields(items)


class PeriodicYield:
    def __init__(self) -> None:
        self._yield_if_due = _runtime().periodic_yield()

    def __call__(self) -> None:
        self._yield_if_due()


class BusyPoll:
    def __init__(self, limit: float) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def poll_until_readable(self, descriptor: int | None) -> bool:
        return False


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
