# SPDX-License-Identifier: Apache-2.0

"""What a connection makes of what clients send, byte by byte."""

from __future__ import annotations

import contextlib
import gc
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.runtime.permit import permit_of
from plimsoll.server.application import PlainApplication
from plimsoll.server.connections import Connections
from plimsoll.server.headers import Headers
from plimsoll.server.limits import DRAIN_FACTOR, MAX_HEAD_BYTES, Limits
from tests.support.waiting import eventually

MAX_BODY = 1 << 20
LIMITS = Limits(threads=1, max_body_bytes=MAX_BODY)

SHOWN = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "REMOTE_ADDR", "CONTENT_TYPE")


def echo(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answers with what it was given."""
    shown = {name: value for name, value in environ.items() if name in SHOWN or name.startswith("HTTP_")}
    body = environ["wsgi.input"].read()
    content = json.dumps({**shown, "body": len(body), "start": body[:20].decode("latin-1")}).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


class Client:
    def __init__(
        self, app: Any = echo, limits: Limits = LIMITS, connections: Connections | None = None
    ) -> None:
        served = app if isinstance(app, PlainApplication) else PlainApplication(app)
        self.connections = connections or Connections(served, limits, ("127.0.0.1", 8778))
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

    def connect(*arguments: Any) -> Client:
        clients.append(Client(*arguments))
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


class Prefetching(PlainApplication):
    """Adds to the environment of a request the target that it was to prefetch for."""

    def prefetch(self, target: str) -> dict[str, Any]:
        return {"HTTP_PREFETCHED": target}


def test_the_application_can_prefetch_for_a_get_before_it_is_parsed(connect: Connect) -> None:
    client = connect(Prefetching(echo))
    assert client.said(b"GET /a%20b?c HTTP/1.1\r\nHost: h\r\n\r\n")["HTTP_PREFETCHED"] == "/a%20b?c"
    assert "HTTP_PREFETCHED" not in client.said(b"DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n")
    body = b"GET /x HTTP/1.1\r\n\r\n"
    client.send(b"PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(body))
    time.sleep(0.1)  # so that what looks like a read comes by itself
    assert "HTTP_PREFETCHED" not in client.said(body)
    both = client.said(2 * b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
    assert both["HTTP_PREFETCHED"] == "/a"
    assert "PREFETCHED" not in client.answer()[2].decode()


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


def test_a_target_in_absolute_form_is_reduced_to_its_path_and_its_host_counts(connect: Connect) -> None:
    given = connect().said(b"GET http://elsewhere:1/x?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (given["PATH_INFO"], given["QUERY_STRING"], given["HTTP_HOST"]) == ("/x", "y", "elsewhere:1")
    given = connect().said(b"GET http://elsewhere?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (given["PATH_INFO"], given["QUERY_STRING"], given["HTTP_HOST"]) == ("/", "y", "elsewhere")


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


@pytest.mark.parametrize("length", [1000, MAX_BODY // 2, MAX_BODY])
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
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * MAX_HEAD_BYTES + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: x\r\n" * 200 + b"\r\n", 431),
        (b"GET /" + b"x" * 2 * MAX_HEAD_BYTES, 431),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h/x\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        (b"GET / RTSP/1.0\r\nHost: h\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nExpect: gold\r\nContent-Length: 1\r\n\r\nx", 417),
        (
            b"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * 2 * MAX_HEAD_BYTES,
            431,
        ),
    ],
)
def test_a_malformed_request_is_refused(connect: Connect, request_: bytes, status: int) -> None:
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
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
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
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    client._socket.close()
    gone.set()
    assert answer.is_closed.wait(10)


def test_no_header_can_begin_another(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("location", "/x\r\nset-cookie: y")])
        return []

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = client.answer()
    assert (status, "set-cookie" in headers) == (500, False)
    client.close()


def test_a_worker_that_stops_closes_connections_with_the_next_response(connect: Connect) -> None:
    client = connect()
    client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    client.connections.is_draining = True
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[1]["connection"] == "close"
    assert client.has_been_left()
    assert client.connections.are_all_closed


def test_a_request_that_arrives_while_its_connection_is_closed_is_not_carried_out(connect: Connect) -> None:
    targets: list[str] = []
    is_reading, is_closed = threading.Event(), threading.Event()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        targets.append(environ["PATH_INFO"])
        return ok(environ, start_response)

    client = connect(app)
    receive = client.server.recv

    def receive_late(size: int) -> bytes:
        if targets:
            is_reading.set()
            assert is_closed.wait(10)
        return receive(size)

    client.send(b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[0] == 200
    client.server.recv = receive_late  # type: ignore[method-assign]
    client.send(b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert is_reading.wait(10)
    client.connections.close_idle(0)
    is_closed.set()
    assert client.has_been_left()
    assert targets == ["/1"]


def test_a_worker_that_stops_does_not_close_a_connection_whose_body_still_arrives(connect: Connect) -> None:
    client = connect(ok)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nx")
    assert eventually(lambda: client.server.tries == 2)
    [connection] = client.connections._open
    before = time.monotonic()
    client.send(b"x")
    assert eventually(lambda: connection.body_bytes == 2)
    assert not connection.waits_since(before)
    client.send(b"x")
    assert client.answer()[0] == 200


def ok(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answers without reading the body."""
    start_response("200 OK", [("content-length", "2")])
    return [b"ok"]


def test_a_body_that_is_too_long_is_discarded_and_the_connection_goes_on(connect: Connect) -> None:
    client = connect(ok)
    length = 2 * MAX_BODY
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % length)
    client.send(b"x" * length)
    assert client.answer()[::2] == (200, b"ok")
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.answer()[0] == 200


def test_a_connection_that_waits_keeps_neither_the_last_body_nor_the_last_response(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * (8 << 20)] if environ["PATH_INFO"] == "/large" else [b"ok"]

    head = b" HTTP/1.1\r\nHost: h\r\n"
    messages = (
        b"POST /" + head + b"Content-Length: %d\r\n\r\n" % MAX_BODY + b"x" * MAX_BODY,
        b"GET /large" + head + b"\r\n",
        b"GET /" + head + b"Long: " + b"x" * (MAX_HEAD_BYTES - 100) + b"\r\n\r\n",
    )
    client = connect(app)
    client.send(b"GET /" + head + b"\r\n")
    client.answer()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for message in messages:
            client.send(message)
            assert client.answer()[0] == 200
            assert eventually(lambda: tracemalloc.get_traced_memory()[0] - before < MAX_HEAD_BYTES // 2)
    finally:
        tracemalloc.stop()


def test_a_body_that_is_much_too_long_ends_the_connection(connect: Connect) -> None:
    client = connect(ok)
    length = DRAIN_FACTOR * MAX_BODY + 1
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\nxx" % length)
    assert client.answer()[1]["connection"] == "close"


def test_a_client_that_waits_to_send_a_body_that_is_too_long_gets_the_response_at_once(
    connect: Connect,
) -> None:
    client = connect(ok)
    head = b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    client.send(head % (2 * MAX_BODY))
    status, headers, body = client.answer()
    assert (status, headers["connection"], body) == (200, "close", b"ok")


def test_the_application_learns_that_a_chunked_body_is_too_long(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [environ["CONTENT_LENGTH"].encode(), b" ", environ["wsgi.input"].read()]

    client = connect(app)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(3):
        client.send(b"80000\r\n" + b"x" * 0x80000 + b"\r\n")
    client.send(b"0\r\n\r\n")
    length, _, body = client.answer()[2].partition(b" ")
    assert int(length) > MAX_BODY
    assert body == b""


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 9\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"]
)
def test_a_body_that_is_cut_off_is_refused_and_never_processed(connect: Connect, framing: bytes) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\n" + framing)
    client._socket.shutdown(socket.SHUT_WR)
    assert client.answer()[0] == 400
    assert client.has_been_left()


def test_a_malformed_chunk_is_refused_and_the_body_never_processed(connect: Connect) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
    client.send(b"no size\r\n")
    assert client.answer()[0] == 400


def test_a_request_before_garbage_is_answered(connect: Connect) -> None:
    client = connect(ok)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n\0garbage")
    assert client.answer()[0] == 200
    assert client.answer()[0] == 400


def test_many_requests_at_once_are_not_one_long_head(connect: Connect) -> None:
    client = connect(ok)
    one = b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 20_000 + b"\r\n\r\n"
    sending = threading.Thread(target=client.send, args=(20 * one,))
    sending.start()
    assert [client.answer()[0] for _ in range(20)] == [200] * 20
    sending.join()


def test_a_method_that_the_parser_does_not_have_reaches_the_application(connect: Connect) -> None:
    client = connect()
    given = client.said(b"BREW /tea HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
    assert (given["REQUEST_METHOD"], given["PATH_INFO"], given["start"]) == ("BREW", "/tea", "ab")
    assert client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")["REQUEST_METHOD"] == "GET"


def test_a_head_request_that_is_refused_gets_no_body(connect: Connect) -> None:
    client = connect()
    client.send(b"HEAD / HTTP/1.1\r\n\r\n")
    status, headers, _ = client.answer(has_body=False)
    assert (status, headers["connection"]) == (400, "close")
    assert int(headers["content-length"]) > 0
    assert client.has_been_left()


def test_trailers_are_no_headers(connect: Connect) -> None:
    client = connect()
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    given = client.said(head + b"1\r\na\r\n0\r\nX-Auth-Token: admin\r\n\r\n")
    assert "HTTP_X_AUTH_TOKEN" not in given
    assert "HTTP_X_AUTH_TOKEN" not in client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")


def test_trailers_are_limited(connect: Connect) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n")
    client.send(b"X: " + b"x" * 3 * MAX_HEAD_BYTES)
    assert client.answer()[0] == 431


def test_an_idle_connection_is_closed_and_a_slow_request_gets_a_408(connect: Connect) -> None:
    limits = Limits(keep_alive_timeout=0.2, request_timeout=0.2)
    idle, slow, slow_body = (connect(ok, limits) for _ in range(3))
    slow.send(b"GET / HT")
    slow_body.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx")
    time.sleep(0.1)
    for client in (idle, slow, slow_body):
        client.connections.enforce_deadlines()
        assert not client.connections.are_all_closed
    time.sleep(0.3)
    for client in (idle, slow, slow_body):
        client.connections.enforce_deadlines()
    for client in (slow, slow_body):
        assert client.answer()[0] == 408
    assert idle.has_been_left()


def test_a_response_that_its_client_does_not_receive_is_given_up(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.server.connection.RATE_GRACE_SECONDS", 0.1)

    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * (8 << 20)]

    client = connect(app, Limits(min_transfer_rate=100 << 20))
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.3)
    client.connections.enforce_deadlines()
    client.thread.join(10)
    assert client.connections.are_all_closed


def test_beyond_the_memory_for_bodies_the_longest_incomplete_one_is_refused(connect: Connect) -> None:
    small = connect(ok, Limits(max_buffered_bytes=1 << 20))
    large = connect(ok, small.connections.limits, small.connections)
    head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n"
    small.send(head % 2000 + b"x" * 1000)
    with contextlib.suppress(BrokenPipeError):  # the server has stopped reading
        large.send(head % (2 << 20) + b"x" * (3 << 19))
    assert large.answer()[0] == 408
    small.send(b"x" * 1000)
    assert small.answer()[0] == 200


def test_a_request_without_a_permit_waits_and_is_answered_503_in_the_end(connect: Connect) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class App(PlainApplication):
        immediate_paths = ("/health",)

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/slow":
            begun.set()
            assert go_on.wait(10)
        return ok(environ, start_response)

    first = connect(App(slow), Limits(threads=1, queue_timeout=0.2))
    second = connect(None, LIMITS, first.connections)
    first.send(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
    assert begun.wait(10)
    second.send(b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n")
    assert second.answer()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = second.answer()
    assert (status, headers["retry-after"]) == (503, "5")
    go_on.set()
    assert first.answer()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert second.answer()[0] == 200


def test_the_wait_for_a_permit_counts_for_one_request(connect: Connect) -> None:
    waits: list[float] = []
    go_on = threading.Event()

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/slow":
            assert go_on.wait(10)
        else:
            waits.append(permit_of(environ).waited)
        return ok(environ, start_response)

    first = connect(app, Limits(threads=1))
    second = connect(app, LIMITS, first.connections)
    first.send(b"GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    go_on.set()
    assert second.answer()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert second.answer()[0] == 200
    assert waits[0] > 0
    assert waits[1] == 0


def test_a_connection_beyond_the_limit_takes_the_place_of_the_longest_idle_one(connect: Connect) -> None:
    connections = Connections(PlainApplication(echo), LIMITS, ("127.0.0.1", 8778), max_connections=2)
    oldest, newer = (connect(echo, LIMITS, connections) for _ in range(2))
    for client in (oldest, newer):
        client.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.1)  # until the server waits for the next request
    newest = connect(echo, LIMITS, connections)
    newest.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert oldest.has_been_left()
    newer.said(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")


def test_a_long_answer_comes_whole_to_a_client_that_reads_it_late(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * (8 << 20)]

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    assert client.answer()[2] == b"x" * (8 << 20)
