# SPDX-License-Identifier: Apache-2.0

"""Run an operation once for all callers that wait for it: one that may hang, or one that takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Calls that arrive while the operation is running wait for that one, even if it hangs."""

    def __init__(self, operation: Callable[[], T], name: str) -> None:
        self._operation = operation
        self._name = name
        self._lock = threading.Lock()
        self._running: Future[T] | None = None

    def run(self, timeout: float) -> T | None:
        """Return the result, or None if there is none in time. An exception of the operation is raised."""
        with self._lock:
            if self._running is None or self._running.done():
                self._running = self._start()
            running = self._running
        try:
            return running.result(timeout)
        except FutureTimeout:
            return None

    def _start(self) -> Future[T]:
        running: Future[T] = Future()

        def run() -> None:
            try:
                running.set_result(self._operation())
            except BaseException as error:
                running.set_exception(error)

        # A daemon thread and not a pool: an operation that hangs must not keep the process from ending.
        threading.Thread(target=run, name=self._name, daemon=True).start()
        return running


class SharedRuns(Generic[T]):
    """Runs an operation, one run at a time, in the thread or greenlet of a caller.

    Calls that arrive during a run share the next one: its result is not older than the call.
    """

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._lock = threading.Lock()
        self._next: Future[T] | None = None

    def run(self, operation: Callable[[], T]) -> T:
        """Return the result of a run that began after this call, whether it is of this `operation` or that of another call."""
        with self._lock:
            outcome, is_first = self._next, self._next is None
            if outcome is None:
                outcome = self._next = Future()
        if is_first:
            with self._running:
                with self._lock:
                    self._next = None
                try:
                    outcome.set_result(operation())
                except BaseException as error:
                    outcome.set_exception(error)
        return outcome.result()
