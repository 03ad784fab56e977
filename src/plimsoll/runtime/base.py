# SPDX-License-Identifier: Apache-2.0

"""The interface of a runtime: how the requests of a process wait, yield and run in other threads.

`threads` implements it for servers with a thread per request, `greenlets` for `plimsoll serve`, whose requests share
one thread. The entry point creates the runtime and passes it to every layer that needs it.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

T = TypeVar("T")

_ITEMS_PER_CHECK = 32


class TimeLimitExceeded(Exception):
    """The block of a `time_limit` took too long."""


class Lock(Protocol):
    def acquire(self, *, timeout: float) -> bool: ...

    def release(self) -> object: ...


class Event:
    """An event for one waiter that resets itself: a wait that succeeds clears it, and it can be set again."""

    __slots__ = ("_unset",)

    def __init__(self, lock: Lock) -> None:
        self._unset = lock
        """Locked while the event is not set."""
        lock.acquire(timeout=0)

    def set(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is set already
            self._unset.release()

    def wait(self, seconds: float = -1) -> bool:
        """Wait until the event is set, and clear it. False if it was not set in time; -1 waits without a limit."""
        return self._unset.acquire(timeout=seconds)


class Runtime(ABC):
    """The concurrency of one process."""

    @abstractmethod
    def new_event(self) -> Event: ...

    @abstractmethod
    def yield_now(self) -> None:
        """Yield to other requests, including requests that have arrived but were not read from their sockets yet."""

    @abstractmethod
    def yield_to_ready(self) -> None:
        """Yield to requests that are ready to run. Sockets are not polled, so it is cheaper than `yield_now`."""

    @abstractmethod
    def periodic_yield(self) -> Callable[[], None]:
        """Return a function that a long computation calls at each step: at intervals it yields to other requests."""

    @abstractmethod
    def offload(self, work: Callable[[], T]) -> T:
        """Run work where it does not block other requests, and return its result.

        It must neither take a lock nor use a connection to a server: both belong to the thread of the caller.
        """

    @abstractmethod
    def time_limit(self, seconds: float) -> AbstractContextManager[None]:
        """Interrupt the block with TimeLimitExceeded after this many seconds, wherever it waits.

        Threads cannot be interrupted: there, the block itself has to keep the limit.
        """

    @abstractmethod
    def wait_for_input(self, descriptor: int, seconds: float) -> None:
        """Wait until the descriptor has input. Raises TimeoutError if none arrives in time."""

    @abstractmethod
    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        """Wait until the descriptor can be read from or written to. Raises TimeoutError if neither is possible in time."""

    @abstractmethod
    def has_input(self, descriptor: int) -> bool:
        """True if a read would not block: there is input, or the other side has closed the connection."""

    def iterate_with_yields(self, items: Iterable[T]) -> Iterator[T]:
        """Iterate over items that take a few microseconds each, and yield to other requests at intervals."""
        yield_if_due = self.periodic_yield()
        for number, item in enumerate(items, 1):
            yield item
            if not number % _ITEMS_PER_CHECK:
                yield_if_due()
