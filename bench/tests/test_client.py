# SPDX-License-Identifier: Apache-2.0

"""The client reads responses correctly in any number of chunks, and rejects malformed ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.client.driving import RoundLength, Unit, drive
from bench.client.http import Connection, UnexpectedResponse, request, request_with_json
from bench.tests.conftest import Serve


def test_a_response_in_pieces_is_read_as_one(serve: Serve) -> None:
    connection = Connection(serve([b"HTTP/1.1 200 OK\r\nContent-", b"Length: 6\r\n\r\n", b"abc", b"def"]))
    for _ in range(3):
        response = connection.call(request("GET", "/"))
        assert (response.status, bytes(response.body)) == (200, b"abcdef")
    connection.close()


def test_a_response_larger_than_the_buffer_is_read_completely(serve: Serve) -> None:
    body = bytes(range(256)) * 12_000
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    connection = Connection(serve([head + body]))
    assert bytes(connection.call(request("GET", "/")).body) == body
    connection.close()


def test_a_response_without_a_body_needs_no_length(serve: Serve) -> None:
    connection = Connection(serve([b"HTTP/1.1 204 No Content\r\nvary: x\r\n\r\n"]))
    assert connection.call(request("PUT", "/", {})).status == 204
    connection.close()


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabcd",
    ],
)
def test_a_response_without_a_correct_length_is_rejected(serve: Serve, response: bytes) -> None:
    connection = Connection(serve([response]))
    with pytest.raises(UnexpectedResponse):
        connection.call(request("GET", "/"))
    connection.close()


def test_a_request_has_the_length_of_its_body() -> None:
    head, _, body = request_with_json("PUT", "/x", '{"a":1}').partition(b"\r\n\r\n")
    assert b"content-length: 7" in head
    assert body == b'{"a":1}'


def twice() -> Unit:
    """A unit of two requests, done if both succeed."""
    first = yield request("GET", "/")
    second = yield request("GET", "/")
    return first.status == second.status == 200


def never() -> Unit:
    yield request("GET", "/")
    return False


@pytest.mark.parametrize("count", [1, 3])
def test_a_round_counts_completed_and_refused_units(serve: Serve, count: int) -> None:
    port = serve([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"])

    def client(_: int) -> Iterator[Unit]:
        while True:
            yield twice()
            yield never()

    done = drive([port], client, count, RoundLength(seconds=0, min_units=10, warmup_units=2))
    assert (len(done.nanoseconds), done.refused) == (5 * count, 5 * count)
    assert done.answer_bytes == 2
    assert done.client_seconds > 0


def test_a_unit_that_fails_ends_the_measurement_with_its_message(serve: Serve) -> None:
    port = serve([b"HTTP/1.1 500 Error\r\ncontent-length: 0\r\n\r\n"])

    def client(_: int) -> Iterator[Unit]:
        while True:
            yield failing()

    def failing() -> Unit:
        response = yield request("GET", "/")
        raise UnexpectedResponse(f"got {response.status}")

    with pytest.raises(UnexpectedResponse, match="got 500"):
        drive([port], client, 1, RoundLength(seconds=0))
