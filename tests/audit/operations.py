# SPDX-License-Identifier: Apache-2.0

"""Operations: requests with their responses, the auditor's only input. Written to and read from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

NEWEST = 39
"""Minor version of requests that do not choose an older one: 1.39."""

NOTHING_CHANGED = "Nothing was changed."
"""Text in a 503 for a request that certainly had no effect."""


@dataclass(frozen=True)
class Request:
    kind: str
    """Short name of the action, used in the summary only."""
    method: str
    target: str
    body: Any = None
    minor: int = NEWEST

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in urlsplit(self.target).path.split("/") if part)

    @cached_property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    def __str__(self) -> str:
        body = "" if self.body is None else f" {json.dumps(self.body)}"
        version = "" if self.minor == NEWEST else f" (1.{self.minor})"
        return f"{self.method} {self.target}{body}{version}"


class Completion(Enum):
    """Whether the request took effect, as far as the client can see."""

    RESPONDED = "with response"
    NOT_SENT = "not sent"
    NOT_WRITTEN = "not written"
    """A 503 that states that nothing was changed."""
    UNKNOWN = "unknown"
    """Sent without a response, or with a response (5xx) that leaves the outcome unknown."""


@dataclass(frozen=True)
class Operation:
    """A request and its outcome. Times are nanoseconds of the machine's monotonic clock."""

    request: Request
    client: str
    service: int
    began: int
    ended: int
    status: int | None = None
    """None if there was no response."""
    answer: Any = None
    """The decoded body of the response. The name is part of the file format of histories."""
    sent: bool = True
    note: str = ""
    retry_after: str | None = None
    """The Retry-After header."""
    connected: int = 0
    """When its connection was opened."""
    closed: int | None = None
    """When an unknown operation can no longer take effect, if there is such a time."""

    @cached_property
    def completion(self) -> Completion:
        if not self.sent:
            return Completion.NOT_SENT
        if self.status == 503 and NOTHING_CHANGED in self.error.get("detail", ""):
            return Completion.NOT_WRITTEN
        return Completion.UNKNOWN if self.status is None or self.status >= 500 else Completion.RESPONDED

    @cached_property
    def changes_nothing(self) -> bool:
        """True for a read or a refusal, false for an unknown operation."""
        if self.request.method == "GET":
            return True
        return self.completion is Completion.RESPONDED and self.status is not None and self.status >= 400

    @cached_property
    def normalised_body(self) -> Any:
        """The normalised body, for comparison."""
        return normalised(self.answer)

    @property
    def error(self) -> dict[str, Any]:
        """The first error in the body."""
        errors = self.answer.get("errors") if isinstance(self.answer, dict) else None
        return dict(errors[0]) if errors else {}

    def __str__(self) -> str:
        outcome = self.completion.value if self.status is None else str(self.status)
        if self.error:
            outcome += f" {self.error.get('code', '')}: {' '.join(str(self.error.get('detail', '')).split())}"
        elif self.answer is not None:
            outcome += f" {json.dumps(self.normalised_body, default=list)}"
        if self.note:
            outcome += f" ({self.note})"
        return f"[{self.client} via service {self.service}] {self.request} -> {outcome}"


def normalised(value: Any) -> Any:
    """Return the value without links and with sorted lists: neither depends on the state."""
    if isinstance(value, dict):
        return {key: normalised(each) for key, each in value.items() if key != "links"}
    if isinstance(value, list):
        return sorted((normalised(each) for each in value), key=_sort_key)
    return value


def _sort_key(value: Any) -> str:
    """Return a sort key: a name, a provider's uuid, or the first provider of a candidate."""
    if isinstance(value, dict):
        return str(value["uuid"] if "uuid" in value else min(value["allocations"]))
    return str(value)


def with_deadlines(
    operations: Iterable[Operation], deaths: Sequence[tuple[int, int]], patience: int
) -> list[Operation]:
    """Return the operations with `closed` set on unknown ones: the time their service died plus `patience`.

    `deaths` are (service, time). An operation that began after the death of its process counts as not sent.
    """
    updated = []
    for operation in operations:
        if operation.completion is Completion.UNKNOWN:
            ends = [
                at for service, at in deaths if service == operation.service and at >= operation.connected
            ]
            if operation.status is not None:
                # A 5xx response is sent after the attempt has ended.
                ends.append(operation.ended)
            if ends and min(ends) < operation.began:
                operation = replace(operation, sent=False)
            elif ends:
                operation = replace(operation, closed=min(ends) + patience)
        updated.append(operation)
    return updated


def write(path: Path, operations: Iterable[Operation]) -> None:
    with path.open("w") as file:
        for operation in operations:
            file.write(json.dumps(asdict(operation)) + "\n")


def read(path: Path) -> list[Operation]:
    with path.open() as file:
        lines = [json.loads(line) for line in file]
    return [Operation(**{**line, "request": Request(**line["request"])}) for line in lines]
