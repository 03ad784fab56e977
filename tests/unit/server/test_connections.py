# SPDX-License-Identifier: Apache-2.0

"""Connections: parsing of requests, responses, limits and deadlines, tested byte by byte."""

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

from plimsoll.permit import permit_of
from plimsoll.runtime.greenlets import Greenlets
from plimsoll.server.connections import Connections
from plimsoll.server.limits import DRAIN_FACTOR, MAX_HEAD_BYTES, Limits
from plimsoll.server.parser import Request
from tests.support.waiting import eventually
from tests.support.wsgi import PlainApplication

MAX_BODY = 1 << 20
LIMITS = Limits(threads=1, max_body_bytes=MAX_BODY)

SHOWN_KEYS = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "SERVER_PROTOCOL", "REMOTE_ADDR", "CONTENT_TYPE")


def echo(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Respond with the request's environment and body as JSON."""
    shown = {name: value for name, value in environ.items() if name in SHOWN_KEYS or name.startswith("HTTP_")}
    body = environ["wsgi.input"].read()
    content = json.dumps({**shown, "body": len(body), "start": body[:20].decode("latin-1")}).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


class Client:
    def __init__(
        self, app: Any = echo, limits: Limits = LIMITS, connections: Connections | None = None
    ) -> None:
        served = app if isinstance(app, PlainApplication) else PlainApplication(app)
        self.connections = connections or Connections(served, limits, ("127.0.0.1", 8778), Greenlets())
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(10)
        self.server = _SocketWithoutOptions(theirs)
        self.thread = threading.Thread(target=self.connections.serve, args=(self.server, ("10.0.0.7", 4)))
        self.thread.start()
        self._received = b""

    def send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def response(self, *, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", 0)) if has_body else 0
        while len(self._received) < length:
            self._receive()
        body, self._received = self._received[:length], self._received[length:]
        return int(first.split(" ")[1]), headers, body

    def echoed(self, content: bytes) -> dict[str, Any]:
        """Send a request to `echo` and return the environment that the application got."""
        self.send(content)
        status, _, body = self.response()
        assert status == 200
        found: dict[str, Any] = json.loads(body)
        return found

    def is_closed(self) -> bool:
        """Wait until the server has closed its half of the connection, close ours; True if nothing more was received."""
        is_at_end = self._received == b"" and self._socket.recv(1) == b""
        with contextlib.suppress(OSError):  # the server has closed both
            self._socket.shutdown(socket.SHUT_WR)
        self.thread.join(10)
        return is_at_end and not self.thread.is_alive()

    def close(self) -> None:
        self._socket.close()
        self.thread.join(10)
        assert not self.thread.is_alive()

    def _receive(self) -> None:
        content = self._socket.recv(65536)
        assert content, "the server closed the connection"
        self._received += content


class _SocketWithoutOptions:
    """A socket that ignores TCP options and counts receives."""

    def __init__(self, opened: socket.socket) -> None:
        self._socket = opened
        self.receives = 0

    def setsockopt(self, *_: int) -> None:
        pass

    def recv(self, size: int) -> bytes:
        self.receives += 1
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
    environ = connect().echoed(
        b"PUT /a%20b/%C3%A4?c=%20d HTTP/1.1\r\nHost: h\r\nX-Auth-Token:  t \r\nContent-Type: text/plain\r\n"
        b"Accept: a\r\nAccept: b\r\nContent-Length: 3\r\n\r\nxyz"
    )
    assert environ == {
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


def test_a_header_with_an_underscore_is_dropped(connect: Connect) -> None:
    assert "HTTP_X_ROLES" not in connect().echoed(b"GET / HTTP/1.1\r\nHost: h\r\nX_Roles: admin\r\n\r\n")


def test_an_idle_connection_holds_no_request_whose_headers_may_contain_secrets(connect: Connect) -> None:
    secret = b"known-to-this-test-alone"

    def is_held() -> bool:
        requests = [each for each in gc.get_objects() if isinstance(each, Request)]
        return any(value == secret for request in requests for _, value in request.headers)

    held: list[bool] = []

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        held.append(is_held())
        return echo(environ, start_response)

    gc.disable()
    try:
        client = connect(app)
        client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\nX-Auth-Token: %s\r\n\r\n" % secret)
        assert held == [True]
        assert eventually(lambda: not is_held())
    finally:
        gc.enable()


def test_a_target_in_absolute_form_gives_path_and_host(connect: Connect) -> None:
    environ = connect().echoed(b"GET http://elsewhere:1/x?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (environ["PATH_INFO"], environ["QUERY_STRING"], environ["HTTP_HOST"]) == ("/x", "y", "elsewhere:1")
    environ = connect().echoed(b"GET http://elsewhere?y HTTP/1.1\r\nHost: h\r\n\r\n")
    assert (environ["PATH_INFO"], environ["QUERY_STRING"], environ["HTTP_HOST"]) == ("/", "y", "elsewhere")


def test_requests_may_be_pipelined_and_arrive_in_pieces(connect: Connect) -> None:
    client = connect()
    one = b"POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
    client.send(one + b"GET /2 HTTP/1.1\r\nHo")
    assert json.loads(client.response()[2])["PATH_INFO"] == "/1"
    client.send(b"st: h\r\n\r\n")
    assert json.loads(client.response()[2])["PATH_INFO"] == "/2"
    for piece in (one[:3], one[3:20], one[20:-1], one[-1:]):
        client.send(piece)
        time.sleep(0.01)
    assert json.loads(client.response()[2])["start"] == "ab"


def test_after_a_response_the_connection_waits_before_it_reads(connect: Connect) -> None:
    client = connect()
    for number in (1, 2, 3):
        client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.05)
        assert client.server.receives == number


def test_a_chunked_body_is_decoded(connect: Connect) -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    environ = connect().echoed(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert environ["start"] == "abcde"


@pytest.mark.parametrize("length", [1000, MAX_BODY // 2, MAX_BODY])
def test_a_long_body_is_read_to_its_end(connect: Connect, length: int) -> None:
    client = connect()
    for _ in range(2):
        client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % length + b"x" * length)
        assert json.loads(client.response()[2])["body"] == length


def test_expect_100_continue_gets_100_continue(connect: Connect) -> None:
    client = connect()
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert client.response()[0] == 100
    client.send(b"ab")
    assert json.loads(client.response()[2])["start"] == "ab"


@pytest.mark.parametrize(
    ("request_", "goes_on"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
        # It gets a normal response, and the protocol is not switched.
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", False),
    ],
)
def test_a_connection_is_kept_alive_if_the_client_requests_it(
    connect: Connect, request_: bytes, goes_on: bool
) -> None:
    client = connect()
    client.send(request_)
    status, headers, _ = client.response()
    assert status == 200
    if goes_on:
        assert headers.get("connection") != "close"
        client.send(request_)
        assert client.response()[0] == 200
    else:
        assert headers["connection"] == "close"
        assert client.is_closed()


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
    got, headers, _ = client.response()
    assert (got, headers["connection"]) == (status, "close")
    client._socket.shutdown(socket.SHUT_WR)
    assert client.is_closed()


def test_a_response_to_head_has_a_length_and_no_body(connect: Connect) -> None:
    client = connect()
    client.send(b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
    _, headers, _ = client.response(has_body=False)
    assert int(headers["content-length"]) > 0
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.response()[0] == 200


def test_a_response_without_a_length_gets_one_unless_its_status_forbids_a_body(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response(environ["PATH_INFO"].strip("/") + " Said", [])
        return [b"ab", b"c"] if environ["PATH_INFO"] == "/200" else []

    client = connect(app)
    client.send(b"GET /200 HTTP/1.1\r\nHost: h\r\n\r\nGET /204 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.response()[2] == b"abc"
    assert "content-length" not in client.response()[1]


def broken(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    raise RuntimeError("broken")


def without_start_response(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    return []


@pytest.mark.parametrize("app", [broken, without_start_response])
def test_an_application_that_fails_results_in_a_500(connect: Connect, app: Any) -> None:
    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.response()[0] == 500
    assert client.is_closed()


class ClosableResponse:
    def __init__(self, *parts: bytes | Exception) -> None:
        self._parts = parts
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, Exception):
                raise part
            yield part

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("response", "status"),
    [(ClosableResponse(b"do", b"ne"), 200), (ClosableResponse(b"do", ValueError("broken")), 500)],
)
def test_a_response_is_closed_also_if_it_fails(
    connect: Connect, response: ClosableResponse, status: int
) -> None:
    client = connect(returning(response, ("content-length", "4")))
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert client.response()[0] == status
    assert client.is_closed()
    assert response.is_closed


def returning(response: Iterable[bytes], *headers: tuple[str, str]) -> Any:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", list(headers))
        return response

    return app


def test_no_header_can_begin_another(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [("location", "/x\r\nset-cookie: y")])
        return []

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = client.response()
    assert (status, "set-cookie" in headers) == (500, False)
    client.close()


def test_a_worker_that_stops_closes_connections_with_the_next_response(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.server.connection.LINGER_SECONDS", 0.2)
    client = connect()
    client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    client.connections.is_draining = True
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.response()[1]["connection"] == "close"
    client.thread.join(10)  # it need not wait until the client closes its half
    assert client.is_closed()
    assert client.connections.are_all_closed


def test_a_request_that_arrives_while_its_connection_is_closed_is_not_processed(connect: Connect) -> None:
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
    assert client.response()[0] == 200
    client.server.recv = receive_late  # type: ignore[method-assign]
    client.send(b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n")
    assert is_reading.wait(10)
    client.connections.close_idle(0)
    is_closed.set()
    assert client.is_closed()
    assert targets == ["/1"]


def test_a_worker_that_stops_does_not_close_a_connection_whose_body_still_arrives(connect: Connect) -> None:
    client = connect(ok)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nx")
    assert eventually(lambda: client.server.receives == 2)
    [connection] = client.connections._open
    before = time.monotonic()
    client.send(b"x")
    assert eventually(lambda: connection.body_bytes == 2)
    assert not connection.waits_since(before)
    client.send(b"x")
    assert client.response()[0] == 200


def ok(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Respond without reading the body."""
    start_response("200 OK", [("content-length", "2")])
    return [b"ok"]


def test_a_body_that_is_too_long_is_discarded_and_the_connection_stays_open(connect: Connect) -> None:
    client = connect(ok)
    length = 2 * MAX_BODY
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % length)
    client.send(b"x" * length)
    assert client.response()[::2] == (200, b"ok")
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert client.response()[0] == 200


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
    client.response()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for message in messages:
            client.send(message)
            assert client.response()[0] == 200
            assert eventually(lambda: tracemalloc.get_traced_memory()[0] - before < MAX_HEAD_BYTES // 2)
    finally:
        tracemalloc.stop()


def test_a_body_that_is_much_too_long_ends_the_connection(connect: Connect) -> None:
    client = connect(ok)
    length = DRAIN_FACTOR * MAX_BODY + 1
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\nxx" % length)
    assert client.response()[1]["connection"] == "close"


def test_a_client_that_waits_to_send_a_body_that_is_too_long_gets_the_response_at_once(
    connect: Connect,
) -> None:
    client = connect(ok)
    head = b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    client.send(head % (2 * MAX_BODY))
    status, headers, body = client.response()
    assert (status, headers["connection"], body) == (200, "close", b"ok")


def test_the_application_gets_the_length_of_a_chunked_body_that_is_too_long(connect: Connect) -> None:
    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [environ["CONTENT_LENGTH"].encode(), b" ", environ["wsgi.input"].read()]

    client = connect(app)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(3):
        client.send(b"80000\r\n" + b"x" * 0x80000 + b"\r\n")
    client.send(b"0\r\n\r\n")
    length, _, body = client.response()[2].partition(b" ")
    assert int(length) > MAX_BODY
    assert body == b""


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 9\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"]
)
def test_a_body_that_is_cut_off_is_refused_and_never_processed(connect: Connect, framing: bytes) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\n" + framing)
    client._socket.shutdown(socket.SHUT_WR)
    assert client.response()[0] == 400
    assert client.is_closed()


def test_a_malformed_chunk_is_refused_and_the_body_never_processed(connect: Connect) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
    client.send(b"no size\r\n")
    assert client.response()[0] == 400


def test_a_request_before_garbage_gets_its_response(connect: Connect) -> None:
    client = connect(ok)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n\0garbage")
    assert client.response()[0] == 200
    assert client.response()[0] == 400


def test_many_requests_at_once_are_not_one_long_head(connect: Connect) -> None:
    client = connect(ok)
    one = b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * 20_000 + b"\r\n\r\n"
    sending = threading.Thread(target=client.send, args=(20 * one,))
    sending.start()
    assert [client.response()[0] for _ in range(20)] == [200] * 20
    sending.join()


def test_a_method_unknown_to_the_parser_reaches_the_application(connect: Connect) -> None:
    client = connect()
    environ = client.echoed(b"BREW /tea HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab")
    assert (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["start"]) == ("BREW", "/tea", "ab")
    assert client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")["REQUEST_METHOD"] == "GET"


def test_a_head_request_that_is_refused_gets_no_body(connect: Connect) -> None:
    client = connect()
    client.send(b"HEAD / HTTP/1.1\r\n\r\n")
    status, headers, _ = client.response(has_body=False)
    assert (status, headers["connection"]) == (400, "close")
    assert int(headers["content-length"]) > 0
    assert client.is_closed()


def test_trailers_are_no_headers(connect: Connect) -> None:
    client = connect()
    head = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    environ = client.echoed(head + b"1\r\na\r\n0\r\nX-Auth-Token: admin\r\n\r\n")
    assert "HTTP_X_AUTH_TOKEN" not in environ
    assert "HTTP_X_AUTH_TOKEN" not in client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")


def test_trailers_are_limited(connect: Connect) -> None:
    client = connect(broken)
    client.send(b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n")
    client.send(b"X: " + b"x" * 3 * MAX_HEAD_BYTES)
    assert client.response()[0] == 431


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
        assert client.response()[0] == 408
    assert idle.is_closed()


def test_a_response_that_its_client_does_not_receive_is_aborted(
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
    assert large.response()[0] == 408
    small.send(b"x" * 1000)
    assert small.response()[0] == 200


def test_a_request_without_a_permit_waits_and_then_gets_a_503(connect: Connect) -> None:
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
    assert second.response()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    status, headers, _ = second.response()
    assert (status, headers["retry-after"]) == (503, "5")
    go_on.set()
    assert first.response()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert second.response()[0] == 200


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
    assert second.response()[0] == 200
    second.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert second.response()[0] == 200
    assert waits[0] > 0
    assert waits[1] == 0


def test_a_connection_beyond_the_limit_takes_the_place_of_the_longest_idle_one(connect: Connect) -> None:
    connections = Connections(
        PlainApplication(echo), LIMITS, ("127.0.0.1", 8778), Greenlets(), max_connections=2
    )
    oldest, newer = (connect(echo, LIMITS, connections) for _ in range(2))
    for client in (oldest, newer):
        client.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        time.sleep(0.1)  # until the server waits for the next request
    newest = connect(echo, LIMITS, connections)
    newest.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert oldest.is_closed()
    newer.echoed(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")


def test_a_client_that_reads_late_gets_a_long_response_complete(connect: Connect) -> None:
    def app(_: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", [])
        return [b"x" * (8 << 20)]

    client = connect(app)
    client.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    time.sleep(0.1)
    assert client.response()[2] == b"x" * (8 << 20)
