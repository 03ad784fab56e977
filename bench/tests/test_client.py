# SPDX-License-Identifier: Apache-2.0

"""The client reads answers right, however they arrive, and says so when they are no answers."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from bench.client.driving import Extent, Unit, drive
from bench.client.http import BadAnswer, Connection, request, written

Serve = Callable[[list[bytes]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that answers each request with these pieces, sent one by one."""
    listening = socket.create_server(("127.0.0.1", 0))
    answering: list[threading.Thread] = []

    def answer(connection: socket.socket, pieces: list[bytes]) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, contextlib.suppress(ConnectionError):
            while connection.recv(65536):
                for piece in pieces:
                    connection.sendall(piece)

    def accept(pieces: list[bytes]) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            answering.append(threading.Thread(target=answer, args=(connection, pieces)))
            answering[-1].start()

    def start(pieces: list[bytes]) -> int:
        threading.Thread(target=accept, args=(pieces,), daemon=True).start()
        port: int = listening.getsockname()[1]
        return port

    yield start
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for thread in answering:
        thread.join()


def test_an_answer_in_pieces_is_read_as_one(serve: Serve) -> None:
    connection = Connection(serve([b"HTTP/1.1 200 OK\r\nContent-", b"Length: 6\r\n\r\n", b"abc", b"def"]))
    for _ in range(3):
        reply = connection.call(request("GET", "/"))
        assert (reply.status, bytes(reply.body)) == (200, b"abcdef")
    connection.close()


def test_an_answer_larger_than_the_buffer_is_read_whole(serve: Serve) -> None:
    body = bytes(range(256)) * 12_000
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    connection = Connection(serve([head + body]))
    assert bytes(connection.call(request("GET", "/")).body) == body
    connection.close()


def test_an_answer_without_a_body_needs_no_length(serve: Serve) -> None:
    connection = Connection(serve([b"HTTP/1.1 204 No Content\r\nvary: x\r\n\r\n"]))
    assert connection.call(request("PUT", "/", {})).status == 204
    connection.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabcd",
    ],
)
def test_what_is_no_answer_of_a_known_length_is_refused(serve: Serve, answer: bytes) -> None:
    connection = Connection(serve([answer]))
    with pytest.raises(BadAnswer):
        connection.call(request("GET", "/"))
    connection.close()


def test_a_request_says_how_long_its_body_is() -> None:
    head, _, body = written("PUT", "/x", '{"a":1}').partition(b"\r\n\r\n")
    assert b"content-length: 7" in head
    assert body == b'{"a":1}'


def twice() -> Unit:
    """A unit of two requests, done if both are answered."""
    first = yield request("GET", "/")
    second = yield request("GET", "/")
    return first.status == second.status == 200


def never() -> Unit:
    yield request("GET", "/")
    return False


@pytest.mark.parametrize("count", [1, 3])
def test_a_round_counts_units_and_what_was_refused(serve: Serve, count: int) -> None:
    port = serve([b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"])

    def client(_: int) -> Iterator[Unit]:
        while True:
            yield twice()
            yield never()

    done = drive(port, client, count, Extent(seconds=0, least=10, warm=2))
    assert (len(done.nanoseconds), done.refused) == (5 * count, 5 * count)
    assert done.answer_bytes == 2
    assert done.client_seconds > 0


def test_a_unit_that_fails_ends_the_measurement_with_its_words(serve: Serve) -> None:
    port = serve([b"HTTP/1.1 500 Error\r\ncontent-length: 0\r\n\r\n"])

    def client(_: int) -> Iterator[Unit]:
        while True:
            yield failing()

    def failing() -> Unit:
        reply = yield request("GET", "/")
        raise BadAnswer(f"got {reply.status}")

    with pytest.raises(BadAnswer, match="got 500"):
        drive(port, client, 1, Extent(seconds=0))
