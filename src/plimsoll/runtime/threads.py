# SPDX-License-Identifier: Apache-2.0

"""The runtime of servers that run each request in a thread: the interpreter switches between them by itself."""

from __future__ import annotations

import contextlib
import select
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from plimsoll.runtime.base import Event, Runtime

T = TypeVar("T")


class Threads(Runtime):
    def new_event(self) -> Event:
        return _ThreadEvent()

    def yield_now(self) -> None:
        time.sleep(0)

    def yield_to_ready(self) -> None:
        time.sleep(0)

    def periodic_yield(self) -> Callable[[], None]:
        return _do_nothing

    def offload(self, work: Callable[[], T]) -> T:
        return work()

    @contextlib.contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        yield

    def wait_for_input(self, descriptor: int, seconds: float) -> None:
        _poll(descriptor, select.POLLIN, seconds)

    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        _poll(descriptor, select.POLLIN | select.POLLOUT, seconds)

    def has_input(self, descriptor: int) -> bool:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))


class _ThreadEvent:
    __slots__ = ("_unset",)

    def __init__(self) -> None:
        self._unset = threading.Lock()
        """Locked while the event is not set."""
        self._unset.acquire()

    def set(self) -> None:
        self._unset.release()

    def wait(self, seconds: float = -1) -> bool:
        return self._unset.acquire(timeout=seconds)


def _do_nothing() -> None:
    pass


def _poll(descriptor: int, events: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(descriptor, events)
    if not poll.poll(seconds * 1000):
        raise TimeoutError
