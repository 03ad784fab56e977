# SPDX-License-Identifier: Apache-2.0

"""Receive the body of a request. One that is longer than the configured limit is a 413 and is not received."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.http.problems import Problem


def content_length(environ: Mapping[str, Any]) -> int | None:
    """Return the length of the body that the client declares, or None. A text that is no integer is a ValueError."""
    declared = environ.get("CONTENT_LENGTH")
    return int(declared) if declared else None


def check_content_headers(environ: Mapping[str, Any]) -> None:
    """Raise a `Problem` if the length is no integer, or if there is a body without a type."""
    try:
        length = content_length(environ)
    except ValueError:
        raise Problem(400, "content-length header must be an integer", omit_vary=True) from None
    if length is not None and length > 0 and not environ.get("CONTENT_TYPE"):
        raise Problem(400, "content-type header required when content-length > 0", omit_vary=True)


def receive_body(environ: Mapping[str, Any], max_bytes: int) -> bytes:
    """Receive the body; raise a `Problem` if it is longer than `max_bytes` or shorter than its content-length."""
    length = content_length(environ)
    if length is None:
        # Without a length, `read` returns at the end of the body only if the server sets wsgi.input_terminated.
        raw = _received(environ, max_bytes + 1) if environ.get("wsgi.input_terminated") else b""
        if len(raw) > max_bytes:
            raise _too_long(max_bytes)
    else:
        if length > max_bytes:
            raise _too_long(max_bytes)
        raw = _received(environ, length) if length > 0 else b""
        if len(raw) < length:
            raise Problem(400, "The body is shorter than its content-length.")
    return bytes(raw)


def _received(environ: Mapping[str, Any], size: int) -> bytes:
    """Read up to `size` bytes of the body. With servers other than ours this reads the socket, which can fail."""
    try:
        received: bytes = environ["wsgi.input"].read(size)
    except OSError:
        raise Problem(400, "The body is malformed or incomplete.") from None
    return received


def _too_long(max_bytes: int) -> Problem:
    return Problem(413, f"The body is longer than the {max_bytes} bytes that this service accepts.")
