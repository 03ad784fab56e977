# SPDX-License-Identifier: Apache-2.0

"""The fault-injecting proxy forwards everything, and breaks connections on command."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.audit.proxies import ProxyProcess


class Echo(threading.Thread):
    """A server that echoes and records all data, one connection at a time."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(daemon=True)
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self.received = b""
        self.finished = threading.Event()
        """The first connection that sent data has closed."""

    def run(self) -> None:
        while not self.finished.is_set():
            connection, _ = self._listener.accept()
            with connection, contextlib.suppress(ConnectionResetError, BrokenPipeError):
                while data := connection.recv(1000):
                    self.received += data
                    connection.sendall(data)
            if self.received:
                self.finished.set()


@pytest.fixture
def echo() -> Iterator[Echo]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        echo = Echo(listener)
        echo.start()
        yield echo
        assert echo.finished.wait(10)
        echo.join(10)


@pytest.fixture
def proxy(echo: Echo) -> Iterator[ProxyProcess]:
    proxy = ProxyProcess(f"mysql://root@127.0.0.1:{echo.port}/placement")
    yield proxy
    proxy.close()


def connect(proxy: ProxyProcess) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2].partition("/")[0])), 10)


def exchange(connection: socket.socket, data: bytes) -> bytes:
    connection.sendall(data)
    return receive(connection)


def receive(connection: socket.socket) -> bytes:
    """Return the received data, or nothing if the connection is broken."""
    try:
        return connection.recv(1000)
    except ConnectionResetError:
        return b""


def test_data_is_forwarded_in_both_directions(proxy: ProxyProcess) -> None:
    with connect(proxy) as connection:
        assert exchange(connection, b"SELECT 1 FOR UPDATE") == b"SELECT 1 FOR UPDATE"
        assert exchange(connection, b"COMMIT") == b"COMMIT"


@pytest.mark.parametrize(("command", "is_forwarded"), [("drop_response", True), ("drop_commit", False)])
def test_a_commit_is_interrupted_after_or_before_it_is_forwarded(
    proxy: ProxyProcess, echo: Echo, command: str, is_forwarded: bool
) -> None:
    proxy.send(command)
    with connect(proxy) as connection:
        assert exchange(connection, b"SELECT 1 FOR UPDATE") == b"SELECT 1 FOR UPDATE"
        assert exchange(connection, b"COMMIT") == b""
    assert echo.finished.wait(10)
    assert echo.received.endswith(b"COMMIT") == is_forwarded


def test_the_commit_of_a_read_only_connection_is_forwarded(proxy: ProxyProcess) -> None:
    proxy.send("drop_commit")
    with connect(proxy) as connection:
        assert exchange(connection, b"SELECT 1") == b"SELECT 1"
        assert exchange(connection, b"COMMIT") == b"COMMIT"


def test_every_connection_is_aborted_on_disconnect(proxy: ProxyProcess) -> None:
    with connect(proxy) as connection:
        assert exchange(connection, b"SELECT 1") == b"SELECT 1"
        proxy.send("disconnect")
        assert receive(connection) == b""
