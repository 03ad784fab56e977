# SPDX-License-Identifier: Apache-2.0

"""Bodies that the application computes piece by piece: each piece is sent before the next one is computed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from tests.unit.server.test_connections import Client

GET = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


class Pieces:
    """An application whose body is this sequence; an exception in it is raised."""

    def __init__(self, *pieces: bytes | Exception, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self._pieces = pieces
        self._headers = headers
        self.computed = 0
        self.is_closed = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", list(self._headers))
        return self._compute()

    def _compute(self) -> Iterator[bytes]:
        try:
            for piece in self._pieces:
                self.computed += 1
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.is_closed = True


class PieceClient(Client):
    def receive_until(self, end: bytes) -> bytes:
        while not self._received.endswith(end):
            self._receive()
        received, self._received = self._received, b""
        return received


Connect = Callable[[Any], PieceClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[PieceClient] = []

    def connect(app: Any) -> PieceClient:
        clients.append(PieceClient(app))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


def test_pieces_are_sent_as_chunks_and_the_connection_stays_open(connect: Connect) -> None:
    app = Pieces(b"one\n", b"", b"x" * 26)
    client = connect(app)
    for _ in range(2):
        client.send(GET)
        head, _, body = client.receive_until(b"\r\n0\r\n\r\n").partition(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head
        assert b"content-length" not in head
        assert body == b"4\r\none\n\r\n1a\r\n" + b"x" * 26 + b"\r\n0\r\n\r\n"
    assert app.is_closed


def test_a_client_of_http_1_0_gets_the_body_up_to_the_end_of_the_connection(connect: Connect) -> None:
    client = connect(Pieces(b"one", b"two"))
    client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    head, _, body = client.receive_until(b"onetwo").partition(b"\r\n\r\n")
    assert b"\r\nconnection: close" in head
    assert b"chunked" not in head
    assert body == b"onetwo"
    client.close()


def test_a_piece_is_sent_before_the_next_one_is_computed(connect: Connect) -> None:
    big = b"x" * (1 << 20)  # more than the buffers of the socket
    app = Pieces(*[big] * 8)
    client = connect(app)
    client.send(GET)
    client.response(has_body=False)
    assert app.computed < 8
    client.receive_until(b"\r\n0\r\n\r\n")
    assert app.computed == 8


def test_after_a_failure_the_connection_is_closed_without_the_end_of_the_body(
    connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    client = connect(Pieces(b"one", ValueError("a mistake")))
    with caplog.at_level(logging.ERROR):
        client.send(GET)
        client.response(has_body=False)
        assert client.receive_until(b"one\r\n") == b"3\r\none\r\n"
        client._socket.shutdown(1)
        assert client.is_closed()
    assert "The application failed within the response" in caplog.text


def test_the_rest_is_not_computed_for_a_client_that_has_gone(connect: Connect) -> None:
    app = Pieces(*[b"x" * (1 << 20)] * 8)
    client = connect(app)
    client.send(GET)
    client.response(has_body=False)
    client.close()
    assert app.computed < 8
    assert app.is_closed


def test_a_body_with_a_declared_length_is_sent_at_once(connect: Connect) -> None:
    client = connect(Pieces(b"one", b"two", headers=(("Content-Length", "6"),)))
    client.send(GET)
    status, headers, body = client.response()
    assert (status, body) == (200, b"onetwo")
    assert "transfer-encoding" not in headers
