# SPDX-License-Identifier: Apache-2.0

"""What is left of a body when its answer is clear."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.http.middleware.drain import PATIENCE, Drain

LONGEST = 100


def uninterested(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("404 Not Found", [])
    return ()


def headers_after(body: Any, length: int) -> dict[str, str]:
    """Of the answer to a request with this body, by an application that does not read it."""
    headers: dict[str, str] = {}
    environ = {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
    Drain(uninterested, LONGEST)(environ, lambda _, given, *__: headers.update(given))  # type: ignore[arg-type]
    return headers


@pytest.mark.parametrize(
    ("length", "headers"), [(PATIENCE * LONGEST, {}), (1 << 20, {"connection": "close"})]
)
def test_a_body_that_is_still_coming_is_read_unless_that_takes_too_long(
    length: int, headers: dict[str, str]
) -> None:
    coming = io.BufferedReader(io.BytesIO(b"x" * length))
    assert headers_after(coming, length) == headers
    assert (coming.read() == b"") is not bool(headers)


def test_a_body_that_is_all_here_is_left_alone() -> None:
    here = io.BytesIO(b"x" * 1000)
    assert headers_after(here, 1000) == {}
    assert here.tell() == 0


def test_a_body_that_breaks_off_gets_the_answer_and_ends_the_connection() -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            raise OSError("Invalid chunk size")

    assert headers_after(Broken(), 10) == {"connection": "close"}
