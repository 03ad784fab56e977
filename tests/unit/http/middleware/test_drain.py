# SPDX-License-Identifier: Apache-2.0

"""The rest of a body that the application has not read."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.http.middleware.drain import MAX_DRAINED_BODIES, Drain

LONGEST = 100


def app_that_ignores_the_body(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    start_response("404 Not Found", [])
    return ()


def headers_after(body: Any, length: int) -> dict[str, str]:
    """Return the response headers of an application that does not read the body."""
    headers: dict[str, str] = {}
    environ = {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
    Drain(app_that_ignores_the_body, LONGEST)(environ, lambda _, given, *__: headers.update(given))  # type: ignore[arg-type]
    return headers


@pytest.mark.parametrize(
    ("length", "headers"), [(MAX_DRAINED_BODIES * LONGEST, {}), (1 << 20, {"connection": "close"})]
)
def test_the_rest_of_a_body_is_read_unless_it_is_too_long(length: int, headers: dict[str, str]) -> None:
    body = io.BufferedReader(io.BytesIO(b"x" * length))
    assert headers_after(body, length) == headers
    assert (body.read() == b"") is not bool(headers)


def test_a_body_that_the_server_has_received_is_not_read() -> None:
    body = io.BytesIO(b"x" * 1000)
    assert headers_after(body, 1000) == {}
    assert body.tell() == 0


def test_an_incomplete_body_gets_the_response_and_closes_the_connection() -> None:
    class Broken:
        def read(self, size: int) -> bytes:
            raise OSError("Invalid chunk size")

    assert headers_after(Broken(), 10) == {"connection": "close"}
