# SPDX-License-Identifier: Apache-2.0

"""The runtime of servers that run each request in a thread: the interpreter switches between them by itself.

It also works where gevent has replaced locks, polls and sleeps by its own (`gunicorn -k gevent`): then waits switch to
other greenlets, but long computations do not yield.
"""

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
        return Event(threading.Lock())

    def yield_now(self) -> None:
        time.sleep(0)

    def yield_to_ready(self) -> None:
        pass  # the system runs threads that are ready by itself; a sleep of 0 takes 0.1 ms

    def periodic_yield(self) -> Callable[[], None]:
        return _do_nothing

    def offload(self, work: Callable[[], T]) -> T:
        return work()

    @contextlib.contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        yield

    def wait_for_input(self, descriptor: int, seconds: float) -> None:
        if not _poll(descriptor, select.POLLIN, seconds):
            raise TimeoutError

    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        if not _poll(descriptor, select.POLLIN | select.POLLOUT, seconds):
            raise TimeoutError

    def has_input(self, descriptor: int) -> bool:
        return _poll(descriptor, select.POLLIN, 0)


def _do_nothing() -> None:
    pass


def _poll(descriptor: int, events: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(seconds * 1000))
