# SPDX-License-Identifier: Apache-2.0

"""Send fuzzed requests on several connections; check each response, the log, the worker and the state."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.attacks.fuzz.requests import Fuzzed, Generations, fuzzed
from tests.attacks.fuzz.valid import PROVIDERS
from tests.attacks.sockets import Closed, RawConnection, Response, TooLate
from tests.attacks.target import Target

CONNECTIONS = 6
SECONDS = 30.0
MAX_SHOWN = 20
OTHER_ERRORS = ("/healthz", "/metrics", "/console")
"""Paths whose errors may be plain text."""


@dataclass
class Failure:
    number: int
    reason: str
    content: bytes

    def __str__(self) -> str:
        return f"request {self.number}: {self.reason}\n    {self.content[:3000]!r}"


@dataclass
class Result:
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Of the service as a whole."""
    unavailable: list[int] = field(default_factory=list)
    """The numbers of requests with a deliberate 503."""

    @property
    def is_good(self) -> bool:
        return not self.failures and not self.problems


def build(target: Target) -> None:
    """Providers with inventories, so that many of the requests refer to existing objects."""
    for number, provider in enumerate(PROVIDERS):
        parent = PROVIDERS[0] if number in (1, 2) else None
        totals = {"VCPU": 100, "MEMORY_MB": 100, "DISK_GB": 100}
        target.add_provider(f"p{number}", provider, totals, parent)


def run(target: Target, seed: int, numbers: range) -> Result:
    """Send the requests with these numbers, and verify the state at the end."""
    result, generations, upcoming = Result(), Generations(), iter(numbers)
    worker, exceptions, lock = target.worker, target.exceptions(), threading.Lock()

    def work() -> None:
        with _Sender(target, generations) as sender:
            while True:
                with lock:
                    number = next(upcoming, None)
                    if number is None or len(result.failures) >= MAX_SHOWN:
                        return
                each = fuzzed(seed, number)
                content = generations.fill_in(each.content)
                try:
                    status, reason = sender.send(each, content)
                except Exception as broken:  # a bug of this client must not pass as a good run
                    status, reason = 0, repr(broken)
                with lock:
                    result.statuses[status] += 1
                    if status == 503:
                        result.unavailable.append(number)
                    if reason is not None:
                        result.failures.append(Failure(number, reason, content))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(CONNECTIONS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    result.problems += problems_of(target, worker, exceptions)
    return result


def problems_of(target: Target, worker: int, exceptions: int) -> list[str]:
    found = []
    if target.worker_pids() != [worker]:
        found.append("the worker has died or was replaced")
    elif target.send("GET", "/resource_providers").status != 200:
        found.append("the service does not list its providers")
    if target.exceptions() > exceptions:
        found.append("the log has a traceback:\n" + _first_traceback(target.log()))
    errors = [line for line in target.log().splitlines() if " ERROR " in line and "forged" not in line]
    if errors and len(found) == 0:
        found.append("the log has errors:\n" + "\n".join(errors[:5]))
    verified = target.command("db", "verify")
    if verified.returncode:
        found.append(f"db verify: {verified.stdout}{verified.stderr}")
    return found


def _first_traceback(log: str) -> str:
    lines = log.splitlines()
    begin = next(number for number, line in enumerate(lines) if "Traceback" in line)
    return "\n".join(lines[max(0, begin - 2) : begin + 60])


class _Sender:
    """Keeps one connection for whole requests; torn ones get connections of their own."""

    def __init__(self, target: Target, generations: Generations) -> None:
        self._target = target
        self._generations = generations
        self._connection: RawConnection | None = None

    def __enter__(self) -> _Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def send(self, each: Fuzzed, content: bytes) -> tuple[int, str | None]:
        """Send a request; return the status, and the problem of the response or None."""
        if each.is_torn:
            return self._send_torn(each, content)
        for attempt in itertools.count():
            is_fresh = self._connection is None
            self._connection = self._connection or self._target.connect(SECONDS)
            try:
                self._connection.send(content)
                response = self._connection.response(each.method)
            except (Closed, OSError) as gone:
                self._drop()
                if is_fresh or attempt:
                    return 0, f"no response: {gone!r}"
                continue  # an idle connection may be closed at any time
            except TooLate:
                self._drop()
                return 0, f"no response within {SECONDS} s"
            if response.is_closing:
                self._drop()
            self._generations.record_generations(each, response)
            return response.status, problem_with(each, response)
        raise AssertionError("unreachable")

    def _send_torn(self, each: Fuzzed, content: bytes) -> tuple[int, str | None]:
        with self._target.connect(SECONDS) as connection:
            connection.try_send(content)
            connection.end_sending()
            statuses = []
            try:
                # A mutation can turn one request into several.
                for _ in range(50):
                    response = connection.response(_method_of(content))
                    statuses.append(response.status)
                    if response.status >= 500 and not is_deliberate(response):
                        return response.status, f"{response.status}: {response.body[:500]!r}"
            except (Closed, ValueError, AssertionError):  # a response to HEAD among them has no body
                pass
            except TooLate:
                return 0, f"the connection is open {SECONDS} s after its end, responses {statuses}"
            return statuses[0] if statuses else 0, None

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _method_of(content: bytes) -> str:
    return "HEAD" if content.lstrip().startswith(b"HEAD") else "GET"


def is_deliberate(response: Response) -> bool:
    """A 503 with an explanation, or a 501 or 505 of the HTTP layer."""
    if response.status in (501, 505):
        return response.has_error_shape or not response.body
    # A client that has ended its input is treated as disconnected; the text may be HTML, by its Accept header.
    is_explained = response.has_error_shape or b"The client closed its connection" in response.body
    return response.status == 503 and ("retry-after" in response.headers or is_explained)


def problem_with(each: Fuzzed, response: Response) -> str | None:
    """The rule that the response to a complete request violates, or None."""
    if response.status >= 500 and not is_deliberate(response):
        return f"{response.status}: {response.body[:500]!r}"
    if each.method == "HEAD" or response.status == 401 or each.path.startswith(OTHER_ERRORS):
        return None
    if response.status == 204 and response.body:
        return "204 with a body"
    is_json = response.headers.get("content-type", "").startswith("application/json")
    if response.status >= 400:
        if each.accepts_json and not response.has_error_shape:
            return f"{response.status} without the error shape: {response.body[:300]!r}"
        if len(response.body) > 20_000:
            return f"an error of {len(response.body)} bytes"
    elif response.body and is_json:
        try:
            response.json  # noqa: B018
        except ValueError:
            return f"{response.status} with broken JSON: {response.body[:300]!r}"
    return None


def slices(requests: int, size: int) -> Iterator[range]:
    for begin in range(0, requests, size):
        yield range(begin, min(begin + size, requests))


def rate(count: int, begun: float) -> str:
    return f"{count / max(1e-6, time.monotonic() - begun):.0f} requests a second"
