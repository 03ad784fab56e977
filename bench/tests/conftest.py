# SPDX-License-Identifier: Apache-2.0

"""Fixture: a server that sends given bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

Serve = Callable[[list[bytes]], int]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A server that sends these pieces, one by one, in response to each request."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def respond(connection: socket.socket, pieces: list[bytes]) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, contextlib.suppress(ConnectionError):
            while connection.recv(65536):
                for piece in pieces:
                    connection.sendall(piece)

    def accept(pieces: list[bytes]) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threads.append(threading.Thread(target=respond, args=(connection, pieces)))
            threads[-1].start()

    def start(pieces: list[bytes]) -> int:
        threading.Thread(target=accept, args=(pieces,), daemon=True).start()
        port: int = listener.getsockname()[1]
        return port

    yield start
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    for thread in threads:
        thread.join()
