# SPDX-License-Identifier: Apache-2.0

"""The head of a response."""

from __future__ import annotations

import time
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

_WITHOUT_LENGTH = ("1", "204", "304")


def format_head(status: str, headers: list[tuple[str, str]], length: int) -> tuple[bytes, bool]:
    """Return the bytes before the body, and whether the connection stays open after it.

    Raises ValueError for a header with a line break, which could start another header.
    """
    head = "\r\n".join(
        [f"HTTP/1.1 {status}", f"date: {_http_date(int(time.time()))}", *map(": ".join, headers), ""]
    )
    if head.count("\n") != len(headers) + 2 or head.count("\r") != len(headers) + 2:
        raise ValueError(f"A header of a response has more than one line: {headers}")
    lower = head.lower()
    if "\ncontent-length:" not in lower and not status.startswith(_WITHOUT_LENGTH):
        head += f"content-length: {length}\r\n"
    return f"{head}\r\n".encode("latin-1"), "\nconnection: close\r" not in lower


def status_line(status: int) -> str:
    return f"{status} {HTTPStatus(status).phrase}"


@lru_cache(maxsize=1)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)
