# SPDX-License-Identifier: Apache-2.0

"""The wire to a database: it carries everything, and is cut where we say."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.audit.wires import Wire


class Echo(threading.Thread):
    """A server that sends back what it gets, to one after the other, and remembers it."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(daemon=True)
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self.heard = b""
        self.heard_out = threading.Event()
        """Whoever had something to say has hung up."""

    def run(self) -> None:
        while not self.heard_out.is_set():
            connection, _ = self._listener.accept()
            with connection, contextlib.suppress(ConnectionResetError, BrokenPipeError):
                while said := connection.recv(1000):
                    self.heard += said
                    connection.sendall(said)
            if self.heard:
                self.heard_out.set()


@pytest.fixture
def echo() -> Iterator[Echo]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        echo = Echo(listener)
        echo.start()
        yield echo
        assert echo.heard_out.wait(10)
        echo.join(10)


@pytest.fixture
def wire(echo: Echo) -> Iterator[Wire]:
    wire = Wire(f"mysql://root@127.0.0.1:{echo.port}/placement")
    yield wire
    wire.close()


def connected(wire: Wire) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(wire.url.rpartition(":")[2].partition("/")[0])), 10)


def exchange(connection: socket.socket, said: bytes) -> bytes:
    connection.sendall(said)
    return hear(connection)


def hear(connection: socket.socket) -> bytes:
    """What comes back, or nothing if the connection is cut."""
    try:
        return connection.recv(1000)
    except ConnectionResetError:
        return b""


def test_it_carries_what_is_said_both_ways(wire: Wire) -> None:
    with connected(wire) as connection:
        assert exchange(connection, b"SELECT 1 FOR UPDATE") == b"SELECT 1 FOR UPDATE"
        assert exchange(connection, b"COMMIT") == b"COMMIT"


@pytest.mark.parametrize(("order", "is_done"), [("answer", True), ("commit", False)])
def test_a_commit_is_cut_after_it_was_sent_on_or_before(
    wire: Wire, echo: Echo, order: str, is_done: bool
) -> None:
    wire.order(order)
    with connected(wire) as connection:
        assert exchange(connection, b"SELECT 1 FOR UPDATE") == b"SELECT 1 FOR UPDATE"
        assert exchange(connection, b"COMMIT") == b""
    assert echo.heard_out.wait(10)
    assert echo.heard.endswith(b"COMMIT") == is_done


def test_the_commit_of_one_who_only_reads_is_left_alone(wire: Wire) -> None:
    wire.order("commit")
    with connected(wire) as connection:
        assert exchange(connection, b"SELECT 1") == b"SELECT 1"
        assert exchange(connection, b"COMMIT") == b"COMMIT"


def test_every_connection_is_cut_at_once(wire: Wire) -> None:
    with connected(wire) as connection:
        assert exchange(connection, b"SELECT 1") == b"SELECT 1"
        wire.order("cut")
        assert hear(connection) == b""
