# SPDX-License-Identifier: Apache-2.0

"""One worker of a service processes the requests of all workers that write."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import resource
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


def test_a_writer_that_stops_processes_requests_on_connections_it_has_not_accepted(tmp_path: Path) -> None:
    service = Service(tmp_path, workers=5)  # four of which forward at most 64 requests at a time
    (writer,) = service.pids("PUT")
    (argument,) = (each for each in command_line(writer) if each.startswith("{"))
    name = f"@{json.loads(argument)['writer']}"
    os.kill(writer, signal.SIGSTOP)
    with contextlib.ExitStack() as stack:
        stack.callback(service.process.communicate, timeout=20)
        stack.callback(service.process.terminate)
        clients = [stack.enter_context(contextlib.closing(service.connect())) for _ in range(400)]
        for each in clients:
            each.request("PUT", "/")
        # More than gevent accepts at a time. One of them is the socket that listens.
        assert eventually(lambda: unix_sockets(name) > 1 + 100)
        os.kill(writer, signal.SIGTERM)
        os.kill(writer, signal.SIGCONT)
        assert writer in {echoed(each)["pid"] for each in clients}


def command_line(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def unix_sockets(name: str) -> int:
    """Return how many sockets have this name: the one that listens, and the other ends of connections to it."""
    return sum(line.endswith(name) for line in Path("/proc/net/unix").read_text().splitlines())


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
        b"PUT /?" + 33000 * b"t" + b" HTTP/1.1\r\nHost: a\r\na: " + 32490 * b"b" + b"\r\n\r\n",
        b"PUT / HTTP/1.0\r\n\r\n",
    ],
    ids=[
        "reads",
        "long bodies",
        "incomplete bodies",
        "many headers",
        "long heads",
        "long targets",
        "no host",
    ],
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


def test_a_request_that_arrives_in_pieces_while_the_writer_ends_the_connection_is_processed(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_all() -> None:
        for each in writer.connections._open:
            each.shut_down()

    # Called between two pieces.
    monkeypatch.setattr(writer.connections.runtime, "yield_now", end_all)
    ours, theirs = socket.socketpair()
    with ours:
        long = 10000 * b"b"
        ours.sendall(
            b"PUT / HTTP/1.1\r\nplimsoll-peer: 10.0.0.7 4\r\nHost: a\r\na: %s\r\nContent-Length: 10000\r\n\r\n%s"
            % (long, long)
        )
        thread = threading.Thread(target=writer.connections.serve_worker, args=(theirs, ""))
        thread.start()
        received = ours.recv(15)
        ours.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert received == b"HTTP/1.1 200 OK"


def test_a_request_without_the_address_of_its_client_is_refused(writer: Writer) -> None:
    for content in (b"PUT / HTTP/1.0\r\n\r\n", PUT):
        ours, theirs = socket.socketpair()
        with ours:
            ours.sendall(content)
            thread = threading.Thread(target=writer.connections.serve_worker, args=(theirs, ""))
            thread.start()
            assert ours.recv(12) == b"HTTP/1.1 400"
            ours.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def test_without_a_free_file_descriptor_a_request_is_processed_where_it_arrived(writer: Writer) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as lowest:
        free = lowest.fileno()
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        assert writer.forward(PUT) is None
        assert not writer.other.become_writer()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_request_does_not_wait_for_a_writer_that_accepts_no_connection() -> None:
    name = forwarding.new_name()
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(f"\0{name}")
        listening.listen(0)
        stack.enter_context(socket.socket(socket.AF_UNIX)).connect(f"\0{name}")  # the queue is full
        parser = RequestParser({}, Limits())
        parser.feed(PUT)
        assert Forwarder(name, lambda _: None).forward(parser.parsed.popleft(), PEER) is None


class WaitingApplication(PlainApplication):
    """Responds when it may."""

    def __init__(self) -> None:
        super().__init__(self._wait)
        self.is_called, self.may_respond = threading.Event(), threading.Event()

    def _wait(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.is_called.set()
        assert self.may_respond.wait(20)
        start_response("204 No Content", [])
        return [b""]


@pytest.mark.parametrize(("limit", "value"), [("MAX_FORWARDED", 1), ("HANG_SECONDS", 0.0)])
def test_while_the_writer_is_overloaded_or_hangs_others_process_their_requests(
    limit: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = WaitingApplication()
    with contextlib.closing(Writer(app)) as writer:
        writer.accept()
        responses: list[ForwardedResponse | None] = []
        thread = threading.Thread(target=lambda: responses.append(writer.forward(PUT)))
        thread.start()
        assert app.is_called.wait(10)
        monkeypatch.setattr(forwarding, limit, value)
        assert writer.forward(PUT) is None
        app.may_respond.set()
        thread.join(10)
        responses.append(writer.forward(PUT))
        assert [response is not None and response.status for response in responses] == 2 * ["204 No Content"]


def test_a_response_may_arrive_byte_by_byte() -> None:
    received = forwarding._Response()
    for each in b"HTTP/1.1 201 Created\r\nx-own: abc\r\ncontent-length: 2\r\n\r\nok":
        assert not received.is_complete
        received.parser.feed_data(bytes([each]))
    assert received.is_complete
    assert received.result == ForwardedResponse("201 Created", [("x-own", "abc")], b"ok", True)


def test_a_writer_that_ends_within_a_request_leaves_its_outcome_unknown(
    caplog: pytest.LogCaptureFixture,
) -> None:
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
    assert "without a response to PUT /: it was written or not" in caplog.text


def test_a_request_does_not_wait_for_a_writer_that_hangs(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(forwarding, "RESPONSE_SECONDS", 0.2)
    name = forwarding.new_name()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(f"\0{name}")
        listening.listen(1)  # the kernel accepts the connection and the request
        parser = RequestParser({}, Limits())
        parser.feed(PUT)
        with pytest.raises(ConnectionResetError):
            Forwarder(name, lambda _: None).forward(parser.parsed.popleft(), PEER)
    assert "or hangs, without a response to PUT /: it was written or not" in caplog.text


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
