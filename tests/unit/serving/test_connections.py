# SPDX-License-Identifier: Apache-2.0

"""What a connection makes of what clients send, byte by byte."""

from __future__ import annotations

import gc
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.serving.connections import Connections
from plimsoll.serving.headers import Headers
from plimsoll.serving.requests import AT_HAND, LONGEST_HEAD, Unreadable

SHOWN = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "REMOTE_ADDR", "CONTENT_TYPE")


def echo(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answers with what it was given."""
    shown = {name: value for name, value in environ.items() if name in SHOWN or name.startswith("HTTP_")}
    body = environ["wsgi.input"].read()
    content = json.dumps({**shown, "body": len(body), "start": body[:20].decode("latin-1")}).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


class Client:
    def __init__(self, app: Any = echo) -> None:
        self.connections = Connections(app, 1, ("127.0.0.1", 8778))
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(10)
        self.server = _Plain(theirs)
        self.thread = threading.Thread(target=self.connections.serve, args=(self.server, ("10.0.0.7", 4)))
        self.thread.start()
        self._got = b""

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def answer(self, *, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
        while b"\r\n\r\n" not in self._got:
            self._receive()
        head, _, self._got = self._got.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0)) if has_body else 0
        while len(self._got) < length:
            self._receive()
        body, self._got = self._got[:length], self._got[length:]
        return int(first.split(" ")[1]), headers, body

    def said(self, content: bytes) -> dict[str, Any]:
        """What the application was given by this request."""
        self.send(content)
        status, _, body = self.answer()
        assert status == 200
        found: dict[str, Any] = json.loads(body)
        return found

    def has_been_left(self) -> bool:
        """Nothing more comes."""
        self.thread.join(10)
        return self._got == b"" and self._socket.recv(1) == b""

    def close(self) -> None:
        self._socket.close()
        self.thread.join(10)
        assert not self.thread.is_alive()

    def _receive(self) -> None:
        content = self._socket.recv(65536)
        assert content, "it hung up"
        self._got += content


class _Plain:
    """A socket without the options of TCP."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self.tries = 0

    def setsockopt(self, *_: int) -> None:
        pass

    def recv(self, size: int) -> bytes:
        self.tries += 1
        return self._socket.recv(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)


@pytest.fixture
def connect() -> Iterator[Callable[..., Client]]:
    clients: list[Client] = []

    def connect(app: Any = echo) -> Client:
        clients.append(Client(app))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


Connect = Callable[..., Client]


def test_a_request_reaches_the_application_as_wsgi_has_it(connect: Connect) -> None:
    given = connect().said(
        b"PUT /a%20b/%C3%A4?c=%20d HTTP/1.1\r\nHost: h\r\nX-Auth-Token:  t \r\nContent-Type: text/plain\r\n"
        b"Accept: a\r\nAccept: b\r\nContent-Length: 3\r\n\r\nxyz"
    )
    assert given == {
        "REQUEST_METHOD": "PUT",
        "PATH_INFO": "/a b/\u00c3\u00a4",
        "QUERY_STRING": "c=%20d",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "10.0.0.7",
        "CONTENT_TYPE": "text/plain",
        "HTTP_HOST": "h",
        "HTTP_X_AUTH_TOKEN": "t",
        "HTTP_ACCEPT": "a,b",
        "body": 3,
        "start": "xyz",
    }


class Foreseeing:
    """An application that wants to know of what comes in, and finds in a request what it made of that."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return echo(environ, start_response)

    def foresee(self, target: str) -> dict[str, Any]:
        return {"HTTP_FORESEEN": target}


def test_an_application_may_be_told_of_a_read_before_it_is_parsed(connect: Connect) -> None:
    client = connect(Foreseeing())
    assert client.said(b"GET /a%20b?c HTTP/1.1\r\nHost: h\r\n\r\n")["HTTP_FORESEEN"] == "/a%20b?c"
    assert "HTTP_FORESEEN" not in client.said(b"DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n")
    body = b"GET /x HTTP/1.1\r\n\r\n"
    client.send(b"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body))
    time.sleep(0.1)  # so that what looks like a read comes by itself
    assert "HTTP_FORESEEN" not in client.said(body)
    both = client.said(2 * b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
    assert both["HTTP_FORESEEN"] == "/a"
    assert "FORESEEN" not in client.answer()[2].decode()


def test_a_header_that_would_be_taken_for_another_is_dropped(connect: Connect) -> None:
    assert "HTTP_X_ROLES" not in connect().said(b"GET / HTTP/1.1\r\nHost: h\r\nX_Roles: admin\r\n\r\n")


def test_secrets_are_kept_no_longer_than_the_connection_that_sent_them(connect: Connect) -> None:
    secret = b"known-to-this-test-alone"

    def keeping() -> int:
        known = [each._known for each in gc.get_objects() if isinstance(each, Headers)]
        return sum(value == secret for headers in known for _, value in headers)

    gc.disable()
    try:
        client = connect()
        client.said(b"GET / HTTP/1.1\r\nHost: h\r\nX-Auth-Token: %s\r\n\r\n" % secret)
        assert keeping() == 1
        client.close()
        assert keeping() == 0
    finally:
        gc.enable()


def test_a_whole_address_is_taken_for_its_path(connect: Connect) -> None:
    given = connect().said(b"GET http://elsewhere:1/x?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (given["PATH_INFO"], given["QUERY_STRING"]) == ("/x", "y")


def test_requests_may_come_one_upon_the_other_and_in_pieces(connect: Connect) -> None:
    client = connect()
    one = b"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
    client.send(one + b"GET /2 HTTP/1.1\r\nHo")
    assert json.loads(client.answer()[2])["PATH_INFO"] == "/1"
    client.send(b"st: h\r\n\r\n")
    assert json.loads(client.answer()[2])["PATH_INFO"] == "/2"
    for piece in (one[:3], one[3:20], one[20:-1], one[-1:]):
        client.send(piece)
        time.sleep(0.01)
    assert json.loads(client.answer()[2])["start"] == "ab"


def test_who_was_answered_is_waited_for_before_anything_is_read(connect: Connect) -> None:
    client = connect()
    for number in (1, 2, 3):
        client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.05)
        assert client.server.tries == number


def test_a_body_in_chunks_is_put_together(connect: Connect) -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    given = connect().said(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert given["start"] == "abcde"


@pytest.mark.parametrize("length", [AT_HAND - 1, AT_HAND + 1, 3 * AT_HAND])
def test_a_long_body_is_read_to_its_end(connect: Connect, length: int) -> None:
    client = connect()
    for _ in range(2):
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % length + b"x" * length)
        assert json.loads(client.answer()[2])["body"] == length


def test_who_waits_for_a_word_is_given_it(connect: Connect) -> None:
    client = connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert client.answer()[0] == 100
    client.send(b"ab")
    assert json.loads(client.answer()[2])["start"] == "ab"


@pytest.mark.parametrize(
    ("request_", "goes_on"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
        # Answered as it is, and no other protocol is begun.
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", False),
    ],
)
def test_a_connection_goes_on_if_the_client_wants_that(
    connect: Connect, request_: bytes, goes_on: bool
) -> None:
    client = connect()
    client.send(request_)
    status, headers, _ = client.answer()
    assert status == 200
    if goes_on:
        assert headers.get("connection") != "close"
        client.send(request_)
        assert client.answer()[0] == 200
    else:
        assert headers["connection"] == "close"
        assert client.has_been_left()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 2 * LONGEST_HEAD + b"\r\n\r\n", 431),
        (b"GET /" + b"x" * 2 * LONGEST_HEAD, 431),
    ],
)
def test_what_is_no_request_is_refused(connect: Connect, request_: bytes, status: int) -> None:
    client = connect()
    client.send(request_)
    got, headers, _ = client.answer()
    assert (got, headers["connection"]) == (status, "close")
    client._socket.shutdown(socket.SHUT_WR)
    assert client.has_been_left()


def test_an_answer_to_head_has_no_body_and_its_length(connect: Connect) -> None:
    client = connect()
    client.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
    _, headers, _ = client.answer(has_body=False)
    assert int(headers["content-length"]) > 0
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[0] == 200


def test_an_answer_without_a_length_gets_one_unless_it_can_have_no_body(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response(environ["PATH_INFO"].strip("/") + " Said", [])
        return [b"ab", b"c"] if environ["PATH_INFO"] == "/200" else []

    client = connect(app)
    client.send(b"GET /200 HTTP/1.1\r\nHost: h\r\n\r\nGET /204 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[2] == b"abc"
    assert "content-length" not in client.answer()[1]


def broken(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    raise RuntimeError("broken")


def silent(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    return []


@pytest.mark.parametrize("app", [broken, silent])
def test_an_application_that_fails_is_answered_for(connect: Connect, app: Any) -> None:
    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[0] == 500
    assert client.has_been_left()


class Unhurried:
    """An answer that is closed only when somebody lets it."""

    def __init__(self) -> None:
        self.may_close, self.is_closed = threading.Event(), threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        return iter([b"done"])

    def close(self) -> None:
        assert self.may_close.wait(10)
        self.is_closed.set()


def test_an_answer_is_closed_when_it_is_sent(connect: Connect) -> None:
    answer = Unhurried()

    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return answer

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\n\r\n")
    assert client.answer()[2] == b"done"
    assert not answer.is_closed.is_set()
    answer.may_close.set()
    assert answer.is_closed.wait(10)


def test_an_answer_that_reaches_nobody_is_closed_all_the_same(connect: Connect) -> None:
    answer = Unhurried()
    answer.may_close.set()
    gone = threading.Event()

    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        assert gone.wait(10)
        start_response("200 OK", [])
        return answer

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\n\r\n")
    client._socket.close()
    gone.set()
    assert answer.is_closed.wait(10)


def test_no_header_can_begin_another(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("location", "/x\r\nset-cookie: y")])
        return []

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.has_been_left()


def test_who_takes_leave_says_so(connect: Connect) -> None:
    client = connect()
    client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    client.connections.is_leaving = True
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[1]["connection"] == "close"
    assert client.has_been_left()
    assert client.connections.are_all_closed


def test_a_body_that_nobody_read_ends_the_connection(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("content-length", "2")])
        return [b"ok"]

    client = connect(app)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % (4 * AT_HAND))
    client.send(b"x" * 2 * AT_HAND)
    assert client.answer()[::2] == (200, b"ok")
    client._socket.shutdown(socket.SHUT_WR)
    assert client.has_been_left()


def test_what_is_no_request_after_a_long_body_ends_the_connection(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            environ["wsgi.input"].read()
        except Unreadable:
            start_response("500 Internal Server Error", [("content-length", "0")])
        return []

    client = connect(app)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % (AT_HAND + 2))
    client.send(b"x" * AT_HAND)
    time.sleep(0.2)  # it is being read by now
    client.send(b"xx\0no request")
    assert client.answer()[0] == 500
    assert client.has_been_left()


def test_who_says_nothing_or_says_it_drop_by_drop_is_hung_up_on(connect: Connect) -> None:
    silent, slow = connect(), connect()
    for drop in (b"GET", b" / ", b"HTTP"):
        slow.send(drop)
        time.sleep(0.1)
    for client in (silent, slow):
        client.connections.close_idle(10)
        assert not client.connections.are_all_closed
        client.connections.close_idle(0.2)
        assert client.has_been_left()


def test_a_long_answer_comes_whole_to_a_client_that_reads_it_late(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * (8 << 20)]

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    assert client.answer()[2] == b"x" * (8 << 20)
