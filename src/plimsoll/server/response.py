# SPDX-License-Identifier: Apache-2.0

"""The head of a response, and the chunks of a body that is sent piece by piece."""

from __future__ import annotations

import time
from collections.abc import Iterable
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

_WITHOUT_LENGTH = ("1", "204", "304")


LAST_CHUNK = b"0\r\n\r\n"


def is_in_pieces(body: Iterable[bytes], headers: list[tuple[str, str]]) -> bool:
    """Return whether a body is computed while it is iterated, and has no declared length."""
    return not isinstance(body, list | tuple) and all(name.lower() != "content-length" for name, _ in headers)


def chunk(piece: bytes) -> bytes:
    """Return a piece of a body as a chunk of RFC 9112; nothing for an empty piece, which would end the body."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""


def format_head(status: str, headers: list[tuple[str, str]], length: int | None) -> tuple[bytes, bool]:
    """Return the bytes before the body, and whether the connection stays open after it.

    `length` is None for a body that is sent piece by piece.
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
