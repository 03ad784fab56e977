# SPDX-License-Identifier: Apache-2.0

"""One worker of a service processes the requests of all workers that write."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.runtime.greenlets import Greenlets
from plimsoll.server import forwarding
from plimsoll.server.connections import Connections
from plimsoll.server.forwarding import ForwardedResponse, Forwarder
from plimsoll.server.limits import MAX_HEADERS, Limits
from plimsoll.server.parser import RequestParser
from tests.support.waiting import eventually
from tests.support.wsgi import PlainApplication

ROOT = str(Path(__file__).parents[3])  # the workers import a module of the tests
WORKERS, CONNECTIONS = 3, 24
PEER = ("10.0.0.7", 4)

SERVE = """
import json, os, sys
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen
from plimsoll.server.supervisor import run
from tests.unit.server.test_forwarding import EchoApplication

def make(runtime, worker):
    return EchoApplication()

if __name__ == "__main__":
    listen = Listen("127.0.0.1", int(sys.argv[1]), int(sys.argv[2]))
    run(listen, Limits(threads=4), lambda: print("ready", flush=True), "echoing:make")
"""


class EchoApplication(PlainApplication):
    """Responds with the process and what it received."""

    shares_writer = True

    def __init__(self) -> None:
        super().__init__(self._echo)

    def _echo(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        shown = {name: value for name, value in environ.items() if isinstance(value, str)}
        content = json.dumps(
            {"pid": os.getpid(), "body": environ["wsgi.input"].read().decode("latin-1"), "environ": shown}
        ).encode()
        if environ["PATH_INFO"] == "/nothing":
            start_response("204 No Content", [("x-own", "a")])
            return [b""]
        start_response("200 OK", [("content-length", str(len(content))), ("x-own", "a")])
        return [content]


class Service:
    def __init__(self, directory: Path, workers: int = WORKERS) -> None:
        (directory / "echoing.py").write_text(SERVE)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        search = os.pathsep.join(filter(None, [str(directory), ROOT, os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [sys.executable, str(directory / "echoing.py"), str(self.port), str(workers)],
            env={**os.environ, "PYTHONPATH": search},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def pids(self, method: str) -> set[int]:
        """The processes that process a request of this method, on many connections at the same time."""
        with contextlib.ExitStack() as stack:
            connections = [
                stack.enter_context(contextlib.closing(self.connect())) for _ in range(CONNECTIONS)
            ]
            for each in connections:
                each.request(method, "/")
            return {echoed(each)["pid"] for each in connections}


def echoed(connection: http.client.HTTPConnection) -> dict[str, Any]:
    response = connection.getresponse()
    assert response.status == 200
    found: dict[str, Any] = json.loads(response.read())
    return found


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    yield service
    service.process.terminate()
    service.process.communicate(timeout=20)


def test_one_worker_processes_all_writes_and_every_worker_reads(service: Service) -> None:
    (writer,) = service.pids("PUT")
    assert service.pids("POST") == service.pids("DELETE") == {writer}
    # Which worker accepts a connection is up to the kernel.
    assert eventually(lambda: len(service.pids("GET")) > 1)


def test_another_worker_writes_as_soon_as_the_writer_is_killed(service: Service) -> None:
    (killed,) = service.pids("PUT")
    os.kill(killed, signal.SIGKILL)
    after: set[int] = set()
    while not after:
        try:
            after = service.pids("PUT")
        except (OSError, http.client.HTTPException):
            continue  # a request in progress at the killed worker
    assert killed not in after
    assert len(service.pids("PUT")) == 1


def test_a_reload_under_writes_loses_no_response(service: Service) -> None:
    (before,) = service.pids("PUT")
    stop = threading.Event()
    failures: list[BaseException] = []
    pids: set[int] = set()

    def write_repeatedly() -> None:
        while not stop.is_set():
            connection = service.connect()  # a connection of its own: an idle one may be closed by its server
            try:
                connection.request("PUT", "/", body="x")
                pids.add(echoed(connection)["pid"])
            except (OSError, http.client.HTTPException) as error:
                failures.append(error)
            connection.close()

    threads = [threading.Thread(target=write_repeatedly) for _ in range(4)]
    for each in threads:
        each.start()
    os.kill(service.process.pid, signal.SIGHUP)
    assert eventually(lambda: len(pids - {before}) >= 1)
    assert eventually(lambda: before not in service.pids("PUT"))
    stop.set()
    for each in threads:
        each.join()
    assert failures == []


Forward = Callable[[bytes], ForwardedResponse | None]


@pytest.fixture
def writer() -> Iterator[Writer]:
    with_writer = Writer()
    yield with_writer
    with_writer.close()


class Writer:
    """A worker that writes, in this process, and the forwarder of another worker."""

    def __init__(self, app: PlainApplication | None = None) -> None:
        name = forwarding.new_name()
        self._listening: list[socket.socket] = []
        self.connections = Connections(app or EchoApplication(), Limits(), ("127.0.0.1", 8778), Greenlets())
        self.forwarder = Forwarder(name, self._listen)
        assert self.forwarder.become_writer()
        self.became_writer: list[socket.socket] = []
        self.other = Forwarder(name, self.became_writer.append)
        self._threads: list[threading.Thread] = []

    def forward(self, content: bytes) -> ForwardedResponse | None:
        parser = RequestParser({}, Limits())
        parser.feed(content)
        return self.other.forward(parser.parsed.popleft(), PEER)

    def accept(self) -> None:
        """Serve the next connection."""
        (listening,) = self._listening
        listening.settimeout(10)

        def serve() -> None:
            opened, _ = listening.accept()
            self.connections.serve_worker(opened, "")

        self._threads.append(threading.Thread(target=serve))
        self._threads[-1].start()

    def stop_listening(self) -> None:
        self.forwarder.stop()
        while self._listening:
            self._listening.pop().close()

    def close(self) -> None:
        self.stop_listening()
        self.other.stop()
        for each in self.became_writer:
            each.close()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive()

    def _listen(self, bound: socket.socket) -> None:
        self._listening.append(bound)


def environ_of(response: ForwardedResponse | None) -> dict[str, str]:
    assert response is not None
    assert response.status == "200 OK"
    found: dict[str, str] = json.loads(response.body)["environ"]
    return found


def test_a_forwarded_request_is_as_the_client_sent_it(writer: Writer) -> None:
    writer.accept()
    content = (
        b"PUT /a%20b?c=d HTTP/1.1\r\nHost: cloud:80\r\nX-Auth-Token: t\r\nplimsoll-peer: 6.6.6.6 6\r\nExpect: 100-continue\r\n"
        b"Connection: close\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\nhello"
    )
    response = writer.forward(content)
    assert response is not None
    assert ("x-own", "a") in response.headers
    assert json.loads(response.body)["body"] == "hello"
    environ = environ_of(response)
    shown = {name: environ.get(name) for name in ("REMOTE_ADDR", "REMOTE_PORT", "PATH_INFO", "QUERY_STRING")}
    assert shown == {
        "REMOTE_ADDR": "10.0.0.7",
        "REMOTE_PORT": "4",
        "PATH_INFO": "/a b",
        "QUERY_STRING": "c=d",
    }
    headers = {name: value for name, value in environ.items() if name.startswith(("HTTP_", "CONTENT_"))}
    assert headers == {
        "HTTP_HOST": "cloud:80",
        "HTTP_X_AUTH_TOKEN": "t",
        "HTTP_PLIMSOLL_PEER": "6.6.6.6 6",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": "5",
    }


def test_chunked_bodies_absolute_targets_and_empty_responses_are_forwarded(writer: Writer) -> None:
    writer.accept()
    chunked = (
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )
    response = writer.forward(chunked)
    assert response is not None
    assert json.loads(response.body)["body"] == "abcde"
    absolute = b"DELETE http://cloud/x HTTP/1.1\r\nHost: other\r\n\r\n"
    environ = environ_of(writer.forward(absolute))
    assert (environ["HTTP_HOST"], environ["PATH_INFO"]) == ("cloud", "/x")
    assert "CONTENT_LENGTH" not in environ
    nothing = writer.forward(b"PUT /nothing HTTP/1.1\r\nHost: a\r\n\r\n")
    assert nothing == ForwardedResponse("204 No Content", [("x-own", "a")], b"", True)


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n" + 70000 * b"x",
        b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel",
        b"PUT / HTTP/1.1\r\nHost: a\r\n" + (MAX_HEADERS - 1) * b"a: b\r\n" + b"\r\n",
        b"PUT / HTTP/1.1\r\nHost: a\r\na: " + 40000 * b"b" + b"\r\n\r\n",
    ],
    ids=["reads", "long bodies", "incomplete bodies", "many headers", "long heads"],
)
def test_some_requests_are_processed_where_they_arrive(writer: Writer, content: bytes) -> None:
    assert writer.forward(content) is None
    assert writer.became_writer == []


PUT = b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx"


def test_without_a_writer_the_worker_that_needs_one_becomes_it(writer: Writer) -> None:
    writer.stop_listening()
    assert writer.forward(PUT) is None
    assert writer.other.is_writer
    assert len(writer.became_writer) == 1
    assert writer.forward(PUT) is None  # it processes its own


def test_more_requests_than_the_limit_are_processed_where_they_arrive(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.accept()
    monkeypatch.setattr(forwarding, "MAX_FORWARDED", 1)
    assert environ_of(writer.forward(PUT))
    monkeypatch.setattr(forwarding, "MAX_FORWARDED", 0)
    assert writer.forward(PUT) is None
    monkeypatch.setattr(forwarding, "MAX_FORWARDED", 1)
    assert environ_of(writer.forward(PUT))


def test_a_connection_that_the_writer_has_ended_is_replaced(writer: Writer) -> None:
    writer.accept()
    assert environ_of(writer.forward(PUT))
    (connection,) = writer.connections._open
    connection.expire()  # it was idle for too long
    writer.accept()
    assert environ_of(writer.forward(PUT))


def test_a_request_sent_before_the_writer_ends_the_connection_is_processed(writer: Writer) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(b"PUT /first HTTP/1.1\r\nplimsoll-peer: 10.0.0.7 4\r\nHost: a\r\n\r\n")
        ready = threading.Event()

        def serve() -> None:
            ready.wait(10)
            writer.connections.serve_worker(theirs, "")

        thread = threading.Thread(target=serve)
        thread.start()
        theirs.shutdown(socket.SHUT_RD)
        with pytest.raises(BrokenPipeError):
            ours.sendall(b"PUT /second HTTP/1.1\r\nplimsoll-peer: 10.0.0.7 4\r\nHost: a\r\n\r\n")
        ready.set()
        thread.join(10)
        received = ours.recv(65536)
    assert b"/first" in received
    assert b"/second" not in received


def test_a_writer_that_ends_within_a_request_leaves_its_outcome_unknown() -> None:
    ours, theirs = socket.socketpair()
    forwarder = Forwarder(forwarding.new_name(), lambda _: None)
    forwarder._idle.append(ours)

    def receive_and_end() -> None:
        assert theirs.recv(65536)
        theirs.close()

    thread = threading.Thread(target=receive_and_end)
    thread.start()
    parser = RequestParser({}, Limits())
    parser.feed(PUT)
    with pytest.raises(ConnectionResetError):
        forwarder.forward(parser.parsed.popleft(), PEER)
    thread.join(10)
    assert forwarder._idle == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_process_of_another_user_is_not_trusted(writer: Writer) -> None:
    writer.accept()
    code = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX);"
        " s.connect(chr(0) + sys.argv[1]); s.sendall(b'PUT / HTTP/1.1\\r\\nplimsoll-peer: 127.0.0.1 1\\r\\nHost: a\\r\\n\\r\\n');"
        " print(s.recv(99))"
    )
    name = writer.other._address.removeprefix("\0")
    ended = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, check=False)
    assert "HTTP" not in ended.stdout
    assert ended.stdout == "b''\n" or "Error" in ended.stderr
