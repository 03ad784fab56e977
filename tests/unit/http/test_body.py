# SPDX-License-Identifier: Apache-2.0

"""Bodies are received up to their length, and never beyond the configured limit."""

import io
from typing import Any

import pytest

from plimsoll.http.body import receive_body
from plimsoll.http.problems import Problem

MOST = 20


def environ(content: bytes, **more: Any) -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(content), **more}


def refused(given: dict[str, Any]) -> Problem:
    with pytest.raises(Problem) as raised:
        receive_body(given, MOST)
    return raised.value


def test_a_body_is_read_up_to_its_length() -> None:
    assert receive_body(environ(b"abcdef", CONTENT_LENGTH="3"), MOST) == b"abc"


def test_without_a_length_there_is_no_body() -> None:
    assert receive_body(environ(b"abc"), MOST) == b""
    assert receive_body(environ(b"abc", CONTENT_LENGTH=""), MOST) == b""
    assert receive_body(environ(b"abc", CONTENT_LENGTH="0"), MOST) == b""


def test_a_body_in_chunks_is_read_to_its_end() -> None:
    assert receive_body(environ(b"abc", **{"wsgi.input_terminated": True}), MOST) == b"abc"


def test_a_body_as_long_as_allowed_is_read() -> None:
    assert len(receive_body(environ(b"x" * MOST, CONTENT_LENGTH=str(MOST)), MOST)) == MOST


def test_a_body_longer_than_allowed_is_not_even_read() -> None:
    given = environ(b"x" * (MOST + 1), CONTENT_LENGTH=str(MOST + 1))
    assert refused(given).status == 413
    assert given["wsgi.input"].tell() == 0


def test_a_body_in_chunks_longer_than_allowed_is_refused() -> None:
    assert refused(environ(b"x" * 1000, **{"wsgi.input_terminated": True})).status == 413


def test_a_body_shorter_than_its_length_is_a_400() -> None:
    assert refused(environ(b"abc", CONTENT_LENGTH="5")).status == 400


def test_a_body_that_a_server_cannot_receive_is_a_400() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError("Invalid chunk size")

    for framing in ({"wsgi.input_terminated": True}, {"CONTENT_LENGTH": "3"}):
        assert refused({"wsgi.input": Broken(), **framing}).status == 400
