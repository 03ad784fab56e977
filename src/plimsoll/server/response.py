# SPDX-License-Identifier: Apache-2.0

"""The head of a response: status line and headers as bytes."""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

_WITHOUT_LENGTH = ("1", "204", "304")


def has_length(status: str, headers: list[tuple[str, str]]) -> bool:
    """True if the end of the body is known without its bytes: by a header, or because there is none."""
    return status.startswith(_WITHOUT_LENGTH) or any(name.lower() == "content-length" for name, _ in headers)


def format_head(status: str, headers: list[tuple[str, str]], length: int | None) -> tuple[bytes, bool]:
    """Return the bytes before the body, and whether the connection stays open after it.

    `length` is the length of the body, None if it is unknown.

    Raises ValueError for a header with a line break, which could start another header.
    """
    head = "\r\n".join(
        [f"HTTP/1.1 {status}", f"date: {_http_date(int(time.time()))}", *map(": ".join, headers), ""]
    )
    if head.count("\n") != len(headers) + 2 or head.count("\r") != len(headers) + 2:
        raise ValueError(f"A header of a response has more than one line: {headers}")
    lower = head.lower()
    if length is not None and "\ncontent-length:" not in lower and not status.startswith(_WITHOUT_LENGTH):
        head += f"content-length: {length}\r\n"
    return f"{head}\r\n".encode("latin-1"), "\nconnection: close\r" not in lower


def status_line(status: int) -> str:
    return f"{status} {HTTPStatus(status).phrase}"


@lru_cache(maxsize=1)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)
