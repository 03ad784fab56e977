# SPDX-License-Identifier: Apache-2.0

"""Locks, threads, time and the runtime of simulated processes.

`plimsoll serve` replaces `threading` and `time` by gevent's versions; a simulated process replaces them by these, in the
modules of the ledger and of storage.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any, TypeVar

from plimsoll.runtime.base import Event, Runtime
from tests.simulation.scheduler import Scheduler, Task

T = TypeVar("T")

YIELD_PROBABILITY = 0.1
"""With which a long computation yields at each of its steps."""

_PATCHED_PACKAGES = ("plimsoll.ledger", "plimsoll.storage")


class Lock:
    """`threading.Lock`. Waiters are not served in order."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._is_locked = False
        self._waiters: list[Task] = []

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        scheduler = self._scheduler
        scheduler.pause()
        task = scheduler.current
        if task is None or not task.group.is_alive:
            return True
        deadline = None if timeout < 0 else scheduler.now + timeout
        while self._is_locked:
            left = -1.0 if deadline is None else deadline - scheduler.now
            if not blocking or (deadline is not None and left <= 0):
                return False
            self._waiters.append(task)
            try:
                scheduler.block("a lock", left)
            finally:
                self._waiters.remove(task)
        self._is_locked = True
        return True

    def release(self) -> None:
        task = self._scheduler.current
        if task is not None and not task.group.is_alive:
            return
        if not self._is_locked:
            raise RuntimeError("release of a lock that is not held")
        self._is_locked = False
        for task in self._waiters:
            self._scheduler.wake(task)
        self._scheduler.pause()

    def locked(self) -> bool:
        return self._is_locked

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Semaphore:
    """`threading.Semaphore`."""

    def __init__(self, scheduler: Scheduler, value: int = 1) -> None:
        self._scheduler = scheduler
        self._value = value
        self._waiters: list[Task] = []

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        scheduler, task = self._scheduler, self._scheduler.current
        deadline = None if timeout is None or timeout < 0 else scheduler.now + timeout
        while self._value == 0 and task is not None and task.group.is_alive:
            left = -1.0 if deadline is None else deadline - scheduler.now
            if not blocking or (deadline is not None and left <= 0):
                return False
            self._waiters.append(task)
            try:
                scheduler.block("a semaphore", left)
            finally:
                self._waiters.remove(task)
        self._value -= 1
        return True

    def release(self) -> None:
        self._value += 1
        for task in self._waiters:
            self._scheduler.wake(task)


class Thread:
    """`threading.Thread`: a task of the process that starts it."""

    def __init__(
        self,
        scheduler: Scheduler,
        target: Callable[..., object],
        args: tuple[Any, ...] = (),
        name: str = "thread",
        daemon: bool = False,
    ) -> None:
        self._scheduler = scheduler
        self._run = lambda: target(*args)
        self._name = name

    def start(self) -> None:
        current = self._scheduler.current
        assert current is not None
        self._scheduler.spawn(f"thread {self._name}", current.group, self._run)


class Threading:
    """The module `threading` as the ledger and storage use it."""

    def __init__(self, scheduler: Callable[[], Scheduler]) -> None:
        self.Lock = lambda: Lock(scheduler())
        self.Semaphore = lambda value=1: Semaphore(scheduler(), value)
        self.Thread = lambda **arguments: Thread(scheduler(), **arguments)
        self.get_ident = lambda: id(scheduler().current)


class Time:
    """The module `time` as the ledger and storage use it."""

    def __init__(self, scheduler: Callable[[], Scheduler]) -> None:
        self.monotonic = self.perf_counter = self.time = lambda: scheduler().now
        self.sleep = lambda seconds: scheduler().sleep(seconds)


class SimulatedRuntime(Runtime):
    """Every wait and every yield is a scheduling point."""

    def __init__(self, scheduler: Scheduler, has_input: Callable[[int], bool]) -> None:
        self._scheduler = scheduler
        self._has_input = has_input

    def new_event(self) -> Event:
        return Event(Lock(self._scheduler))

    def yield_now(self) -> None:
        self._scheduler.pause()

    def yield_to_ready(self) -> None:
        self._scheduler.pause()

    def periodic_yield(self) -> Callable[[], None]:
        scheduler = self._scheduler

        def yield_if_due() -> None:
            if scheduler.choices.pick(2, YIELD_PROBABILITY):
                scheduler.pause()

        return yield_if_due

    def offload(self, work: Callable[[], T]) -> T:
        self._scheduler.pause()
        result = work()
        self._scheduler.pause()
        return result

    def time_limit(self, seconds: float) -> AbstractContextManager[None]:
        return contextlib.nullcontext()

    def wait_for_input(self, descriptor: int, seconds: float) -> None:
        raise NotImplementedError

    def wait_for_input_or_output_space(self, descriptor: int, seconds: float) -> None:
        raise NotImplementedError

    def has_input(self, descriptor: int) -> bool:
        return self._has_input(descriptor)


@contextlib.contextmanager
def replaced_modules(scheduler: Callable[[], Scheduler]) -> Iterator[None]:
    """Replace `threading` and `time` in all modules of the ledger and of storage."""
    replacements: dict[ModuleType, object] = {threading: Threading(scheduler), time: Time(scheduler)}
    replaced: list[tuple[ModuleType, str, ModuleType]] = []
    for module in _modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, ModuleType) and value in replacements:
                setattr(module, name, replacements[value])
                replaced.append((module, name, value))
    try:
        yield
    finally:
        for module, name, value in replaced:
            setattr(module, name, value)


def _modules() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith(_PATCHED_PACKAGES)]
