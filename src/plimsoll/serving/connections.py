# SPDX-License-Identifier: Apache-2.0

"""The connections of one worker: on each, requests are read, given to the application, and answered in turn."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import time
from collections.abc import Callable, Iterable
from email.utils import formatdate
from typing import Any
from wsgiref.types import WSGIApplication

from gevent import get_hub
from gevent.lock import BoundedSemaphore

from plimsoll.serving.requests import AT_HAND, Request, Requests, Unreadable
from plimsoll.turns import AT_WORK, CLIENTS, CONNECTED, Lookout

LOG = logging.getLogger(__name__)

IDLE_SECONDS = 75.0
"""Nova's hosts report once a minute: a connection that is closed a little later than that serves them all day."""

_SOON = 100e-6
"""Seconds in which a program on the same machine, or nearly so, comes back with its next request."""
_AT_ONCE = 1 << 16
_READABLE = 1  # as gevent's loop has it
_LINGER_SECONDS, _LINGER_READS = 2.0, 64
_GET, _END_OF_HEAD = b"GET ", b"\r\n\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_BROKEN = "500 Internal Server Error"
_NO_MORE = [("content-length", "0"), ("connection", "close")]
_WITHOUT_LENGTH = ("1", "204", "304")


class Connections:
    """All that are open, and what they have in common."""

    def __init__(self, app: WSGIApplication, most_requests: int, server: tuple[str, int]) -> None:
        self.app = app
        self.foresee: Callable[[str], dict[str, Any]] | None = getattr(app, "foresee", None)
        """Tells the application of a GET while it is still being read; gives what it wants to find in its environment."""
        self.places = BoundedSemaphore(most_requests)
        self.server = server
        self.is_leaving = False
        """Whether the next answer on each connection is its last."""
        self._open: set[Connection] = set()

    def serve(self, opened: socket.socket, peer: Any) -> None:
        """One connection, from its first request to its last."""
        connection = Connection(self, opened, peer)
        self._open.add(connection)
        try:
            with CONNECTED:
                connection.serve()
        except OSError:
            pass  # the client has gone, or was idle for too long
        except Exception:
            LOG.exception("A connection was lost")
        finally:
            self._open.discard(connection)
            connection.close()

    def close_idle(self, seconds: float) -> None:
        """Those that have been waiting for their client for so long, be it to send or to receive."""
        since = time.monotonic() - seconds
        for connection in [each for each in self._open if each.is_waiting_since(since)]:
            connection.hang_up()

    @property
    def are_all_closed(self) -> bool:
        return not self._open


class Connection:
    __slots__ = (
        "_all",
        "_body",
        "_foreseen",
        "_headers",
        "_input",
        "_is_answered",
        "_next_one",
        "_number",
        "_requests",
        "_socket",
        "_status",
        "_waiting",
        "_written",
    )

    def __init__(self, connections: Connections, opened: socket.socket, peer: Any) -> None:
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._all = connections
        self._socket = opened
        self._waiting: float | None = None
        """Since when it has been the client's turn; None while it is ours."""
        self._number = opened.fileno()
        self._input = get_hub().loop.io(self._number, _READABLE)
        self._next_one = Lookout(_SOON)
        self._is_answered = False
        """Whether the client has had its answer and said nothing since."""
        self._requests = Requests(_in_common(connections.server, peer))
        self._foreseen: dict[str, Any] | None = None
        self._status = ""
        self._body: Iterable[bytes] = ()
        self._headers: list[tuple[str, str]] = []
        self._written: list[bytes] = []

    def serve(self) -> None:
        try:
            while (request := self._next_request()) is not None:
                if not request.is_whole:
                    if request.expects_a_word:
                        self._send(_CONTINUE)
                    self._wait_for_body(request)
                if not self._answer(request):
                    self._take_leave(request)
                    return
        except Unreadable as reason:
            self._send_answer(reason.status, _NO_MORE)
            self._take_leave(None)

    def close(self) -> None:
        self._requests.close()
        self._input.close()
        self._socket.close()

    def is_waiting_since(self, moment: float) -> bool:
        return self._waiting is not None and self._waiting <= moment

    def hang_up(self) -> None:
        """Wakes whoever waits on it."""
        with contextlib.suppress(OSError):  # it may have gone by itself
            self._socket.shutdown(socket.SHUT_RDWR)

    def _next_request(self) -> Request | None:
        """With all its headers; None if there is none any more. Raises Unreadable."""
        begun, foresee = self._requests.begun, self._all.foresee
        # For all of its head: whoever sends that drop by drop is not waited for.
        self._waiting = time.monotonic()
        while not begun:
            content = b"" if self._requests.are_over else self._received()
            if not content:
                return None
            if foresee and content.startswith(_GET) and content.endswith(_END_OF_HEAD):
                self._foreseen = foresee(content.split(b" ", 2)[1].decode("latin-1"))
            self._requests.take_in(content)
        self._waiting = None
        return begun.popleft()

    def _wait_for_body(self, request: Request) -> None:
        """Until it is there, or enough of it."""
        while not request.is_whole and sum(map(len, request.body)) < AT_HAND:
            if not self._receive_more():
                return

    def _receive_more(self) -> bool:
        """Of a body; whether anything came. Raises Unreadable."""
        if self._requests.are_over:
            return False
        self._waiting = time.monotonic()
        content = self._received()
        self._waiting = None
        if content:
            self._requests.take_in(content)
        return bool(content)

    def _received(self) -> bytes:
        if self._is_answered:
            # Its next request is not there yet: a socket of gevent's would try all the same, and fail, before it waits.
            with self._next_one:
                if not self._next_one.spots(self._number):
                    get_hub().wait(self._input)
            self._is_answered = False
        content: bytes = self._socket.recv(_AT_ONCE)
        return content

    def _send(self, content: bytes) -> None:
        rest: bytes | memoryview = content
        while rest:
            # Anew with each piece: a slow client is waited for, a dead one is not.
            self._waiting = time.monotonic()
            sent = self._socket.send(rest)
            rest = memoryview(rest)[sent:] if sent < len(rest) else b""
        self._waiting = None

    def _answer(self, request: Request) -> bool:
        """Whether the connection goes on after it."""
        try:
            body = self._worked_out(request)
            if body is None:
                return self._send_answer(_BROKEN, _NO_MORE)
            headers = self._headers
            if not request.keeps_alive or not request.is_whole or self._all.is_leaving:
                headers.append(("connection", "close"))
            elif request.version == "1.0":
                headers.append(("connection", "keep-alive"))
            return self._send_answer(
                self._status, headers, b"" if request.method == "HEAD" else body, len(body)
            )
        finally:
            # Only now: what the application still does about it, the client does not have to wait for.
            answer, self._body = self._body, ()
            if hasattr(answer, "close"):
                answer.close()

    def _worked_out(self, request: Request) -> bytes | None:
        """What the application answers, all of it: an answer that breaks off is none. None if it fails."""
        environ = self._requests.environ(request, self._receive_more)
        if self._foreseen:
            environ.update(self._foreseen)
            self._foreseen = None
        self._status, self._written = "", []
        CLIENTS.note(self)
        try:
            with AT_WORK, self._all.places:
                self._body = self._all.app(environ, self._start_response)
                self._written.extend(self._body)
            if not self._status:
                raise RuntimeError("The application said nothing")
        except Exception:
            LOG.exception("The application failed on %s %s", request.method, environ["PATH_INFO"])
            return None
        return b"".join(self._written)

    def _start_response(self, status: str, headers: list[tuple[str, str]], _: Any = None) -> Any:
        self._status = status
        self._headers = list(headers)
        return self._written.append

    def _send_answer(
        self, status: str, headers: list[tuple[str, str]], body: bytes = b"", length: int = 0
    ) -> bool:
        """Whether its headers say that the connection goes on."""
        head = _head(status, headers)
        said = head.lower()
        if "\ncontent-length:" not in said and not status.startswith(_WITHOUT_LENGTH):
            head += f"content-length: {length}\r\n"
        content = f"{head}\r\n".encode("latin-1")
        if len(body) <= _AT_ONCE:
            self._send(content + body)
        else:
            self._send(content)
            self._send(body)
        self._is_answered = True
        return "\nconnection: close\r" not in said

    def _take_leave(self, request: Request | None) -> None:
        """Whoever still sends would lose the answer if we just hung up."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
            if request is None or not request.is_whole:
                self._socket.settimeout(_LINGER_SECONDS)
                for _ in range(_LINGER_READS):
                    if not self._socket.recv(_AT_ONCE):
                        break


def _in_common(server: tuple[str, int], peer: Any) -> dict[str, Any]:
    """What WSGI has of all requests of a connection."""
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": str(peer[0]),
        "REMOTE_PORT": str(peer[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }


def _head(status: str, headers: list[tuple[str, str]]) -> str:
    """All but its last line, which is empty."""
    head = "\r\n".join([f"HTTP/1.1 {status}", f"date: {_now()}", *map(": ".join, headers), ""])
    if head.count("\n") != len(headers) + 2:
        raise ValueError(f"A header of an answer has more than one line: {headers}")
    return head


_said: tuple[int, str] = 0, ""


def _now() -> str:
    """In the form of HTTP; made once a second."""
    global _said
    second = int(time.time())
    if _said[0] != second:
        _said = second, formatdate(second, usegmt=True)
    return _said[1]
