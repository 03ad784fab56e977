# SPDX-License-Identifier: Apache-2.0

"""What clients did and were told: the only thing that the auditor has. It can be kept in a file and read again."""

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
"""The version in which clients speak unless they choose an older one: 1.39."""

NOTHING_CHANGED = "Nothing was changed."
"""What a 503 says of a request that surely had no effect."""


@dataclass(frozen=True)
class Request:
    kind: str
    """What the client wanted, in a word: for the summary alone."""
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


class Fate(Enum):
    """What the client knows about an operation."""

    ANSWERED = "answered"
    NOT_SENT = "not sent"
    NOT_WRITTEN = "not written"
    """A 503, and the service says that it has changed nothing."""
    OPEN = "open"
    """Sent, and no answer that tells; or a 503 that says that the service itself does not know."""


@dataclass(frozen=True)
class Operation:
    """A request and what became of it. Times are nanoseconds of the machine's monotonic clock."""

    request: Request
    client: str
    service: int
    began: int
    ended: int
    status: int | None = None
    """None if there was no answer."""
    answer: Any = None
    sent: bool = True
    note: str = ""
    retry_after: str | None = None
    """What the header of this name says."""
    connected: int = 0
    """When the connection that it went through was made."""
    closed: int | None = None
    """When an open operation can no longer happen, if that is known."""

    @cached_property
    def fate(self) -> Fate:
        if not self.sent:
            return Fate.NOT_SENT
        if self.status == 503 and NOTHING_CHANGED in self.error.get("detail", ""):
            return Fate.NOT_WRITTEN
        return Fate.OPEN if self.status is None or self.status >= 500 else Fate.ANSWERED

    @cached_property
    def changes_nothing(self) -> bool:
        """It was a read, or it was refused. (Of an open one nobody knows.)"""
        if self.request.method == "GET":
            return True
        return self.fate is Fate.ANSWERED and self.status is not None and self.status >= 400

    @cached_property
    def shown(self) -> Any:
        """The answer without what may differ between equal ones."""
        return plain(self.answer)

    @property
    def error(self) -> dict[str, Any]:
        """The first error of a refusal."""
        errors = self.answer.get("errors") if isinstance(self.answer, dict) else None
        return dict(errors[0]) if errors else {}

    def __str__(self) -> str:
        said = self.fate.value if self.status is None else str(self.status)
        if self.error:
            said += f" {self.error.get('code', '')}: {' '.join(str(self.error.get('detail', '')).split())}"
        elif self.answer is not None:
            said += f" {json.dumps(self.shown, default=list)}"
        if self.note:
            said += f" ({self.note})"
        return f"[{self.client} via service {self.service}] {self.request} -> {said}"


def plain(value: Any) -> Any:
    """Without links, and lists in one order: neither says anything about the state."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key != "links"}
    if isinstance(value, list):
        return sorted((plain(each) for each in value), key=_place)
    return value


def _place(value: Any) -> str:
    """Names by themselves, providers by their uuid, candidates by the provider that they begin with."""
    if isinstance(value, dict):
        return str(value["uuid"] if "uuid" in value else min(value["allocations"]))
    return str(value)


def closed_by(
    operations: Iterable[Operation], deaths: Sequence[tuple[int, int]], patience: int
) -> list[Operation]:
    """Tells open operations when their service died: `deaths` are (service, time), `patience` is added to the time.

    What was sent to one who was dead already was sent to nobody.
    """
    told = []
    for operation in operations:
        if operation.fate is Fate.OPEN:
            ends = [
                at for service, at in deaths if service == operation.service and at >= operation.connected
            ]
            if operation.status is not None:
                # Whoever was told that nobody knows was told so after all was over.
                ends.append(operation.ended)
            if ends and min(ends) < operation.began:
                operation = replace(operation, sent=False)
            elif ends:
                operation = replace(operation, closed=min(ends) + patience)
        told.append(operation)
    return told


def write(path: Path, operations: Iterable[Operation]) -> None:
    with path.open("w") as file:
        for operation in operations:
            file.write(json.dumps(asdict(operation)) + "\n")


def read(path: Path) -> list[Operation]:
    with path.open() as file:
        lines = [json.loads(line) for line in file]
    return [Operation(**{**line, "request": Request(**line["request"])}) for line in lines]
