# SPDX-License-Identifier: Apache-2.0

"""One row of the table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Then(Enum):
    """The state of the connection after the last response."""

    OPEN = "open"
    CLOSED = "closed"
    EITHER = "open or closed"


Statuses = frozenset[int]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    section: str
    """The section that decides, `9112 3.2` for instance."""
    sent: bytes
    expected: tuple[Statuses, ...]
    """The statuses that are allowed, for each response in order."""
    then: Then
    method: str = "GET"
    """HEAD for responses without a body."""
    ends: bool = False
    """True to close the sending direction after the last byte."""
    piece: int = 0
    """Bytes per packet; 0 sends all at once."""
    unshaped: bool = False
    """True if the request cannot be parsed far enough for an error document."""
    leaves: str | None = None
    """The name of a provider that must exist afterwards, or with a leading `!` must not exist."""
    closes_if: Statuses = frozenset({400, 408, 413, 414, 431, 505})
    """With `Then.EITHER`: the statuses after which the connection has to be closed."""
    may_be_silent: bool = False
    """True if closing the connection without a response is allowed too."""


def one_of(*statuses: int) -> tuple[Statuses, ...]:
    """One response, with one of these statuses."""
    return (frozenset(statuses),)


def each(*statuses: int) -> tuple[Statuses, ...]:
    """One response for each of these statuses, in this order."""
    return tuple(frozenset({status}) for status in statuses)


def get(target: str = "/", *lines: str, version: str = "HTTP/1.1", host: str | None = "placement") -> bytes:
    """A GET; header lines are sent as they are given."""
    head = [f"GET {target} {version}", *([f"Host: {host}"] if host is not None else []), *lines]
    return "\r\n".join([*head, "", ""]).encode("latin-1")


def create(name: str, *lines: str, body: bytes | None = None, version: str = "HTTP/1.1") -> bytes:
    """A POST that creates a provider. `lines` frame the body, `body` is the framed body."""
    plain = document(name)
    head = [
        f"POST /resource_providers {version}",
        "Host: placement",
        "X-Auth-Token: admin",
        "OpenStack-API-Version: placement 1.39",
        "Content-Type: application/json",
        *(lines or [f"Content-Length: {len(plain)}"]),
    ]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (plain if body is None else body)


def document(name: str) -> bytes:
    return f'{{"name": "{name}"}}'.encode()


def chunk(content: bytes, extension: bytes = b"") -> bytes:
    return b"%x" % len(content) + extension + b"\r\n" + content + b"\r\n"


LAST = b"0\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
