# SPDX-License-Identifier: Apache-2.0

"""Validations of tokens by Keystone: limited in number and in time, and shared by requests with the same token.

A Keystone that hangs must not block the service. keystonemiddleware limits each single wait for a socket, and waits many
times: for Keystone's versions, for a token of the service itself, for the validation, each with retries. The limit here
covers all of them together.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar

import requests
from keystoneauth1.session import TCPKeepAliveAdapter
from keystonemiddleware import auth_token

from plimsoll.runtime.base import Runtime, TimeLimitExceeded

T = TypeVar("T")

_DEADLINE: ContextVar[float] = ContextVar("deadline of the validation under way")


class ValidationTimeout(auth_token.ServiceError):  # type: ignore[misc]  # keystonemiddleware carries no types
    """A validation did not end in time. keystonemiddleware logs it, and the request gets a 503."""


class Validations:
    """Runs at most `max_running` validations at a time, each for at most `timeout` seconds, the wait to begin included.

    A call whose key equals that of a validation under way waits for its outcome, whether a result or an exception. The
    validation runs in the thread or greenlet of the first call.
    """

    def __init__(self, max_running: int, timeout: float, runtime: Runtime) -> None:
        self.max_running = max_running
        self._timeout = timeout
        self._runtime = runtime
        self._slots = threading.Semaphore(max_running)
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def run(self, key: Hashable, validate: Callable[[], T]) -> T:
        with self._lock:
            outcome: Future[T] | None = self._running.get(key)
            is_first = outcome is None
            if outcome is None:
                outcome = self._running[key] = Future()
        if is_first:
            self._run_and_publish(key, outcome, validate)
        try:
            return outcome.result(self._timeout)
        except TimeoutError as fault:
            raise ValidationTimeout(self._timeout_message()) from fault

    def _run_and_publish(self, key: Hashable, outcome: Future[T], validate: Callable[[], T]) -> None:
        try:
            outcome.set_result(self._run_and_remove(key, validate))
        except Exception as fault:
            outcome.set_exception(fault)
        except BaseException:
            # The server aborts this request. The others with the same token fail, and clients can retry them.
            outcome.set_exception(ValidationTimeout("The request that validated the same token was aborted"))
            raise

    def _run_and_remove(self, key: Hashable, validate: Callable[[], T]) -> T:
        """Run a validation, and remove it from those under way before its outcome is published."""
        try:
            return self._run_limited(validate)
        finally:
            with self._lock:
                del self._running[key]

    def _run_limited(self, validate: Callable[[], T]) -> T:
        deadline = time.monotonic() + self._timeout
        if not self._slots.acquire(timeout=self._timeout):
            raise ValidationTimeout(
                f"{self.max_running} validations of other tokens took more than {self._timeout} seconds"
            )
        previous = _DEADLINE.set(deadline)
        try:
            with self._runtime.time_limit(deadline - time.monotonic()):
                return validate()
        except TimeLimitExceeded as fault:
            raise ValidationTimeout(self._timeout_message()) from fault
        finally:
            _DEADLINE.reset(previous)
            self._slots.release()

    def _timeout_message(self) -> str:
        return f"Keystone did not respond within {self._timeout} seconds ([plimsoll]token_validation_timeout)"


class DeadlineAdapter(TCPKeepAliveAdapter):
    """Sends requests to Keystone with the remaining time of the validation as their timeout.

    That bounds each wait for a socket where the runtime cannot interrupt the validation. When no time is left, it
    raises an exception after which keystoneauth does not retry.
    """

    def send(  # type: ignore[override]  # requests passes the rest by name
        self, request: requests.PreparedRequest, stream: bool = False, timeout: Any = None, **options: Any
    ) -> requests.Response:
        left = _seconds_left()
        if left is not None:
            timeout = left if timeout is None else min(timeout, left)
        try:
            return super().send(request, stream, timeout, **options)
        except requests.exceptions.RequestException:
            _seconds_left()
            raise


def _seconds_left() -> float | None:
    """Seconds up to the deadline of this validation, or None outside a validation."""
    deadline = _DEADLINE.get(None)
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise ValidationTimeout("Keystone did not respond before the deadline of the validation")
    return left


def retries_within(timeout: float) -> int:
    """Return how often keystoneauth can retry within `timeout` seconds: it sleeps 0.5, 1, 2, ... seconds in between."""
    retries, slept = 0, 0.5
    while slept < timeout:
        retries += 1
        slept += 0.5 * 2**retries
    return retries
