# SPDX-License-Identifier: Apache-2.0

"""A relay that simulates a slow network: small socket buffers, one small chunk at a time."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

CHUNK_BYTES = 4096


class Relay:
    """Forwards connections to a server through buffers of a few kilobytes."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._sockets: list[socket.socket] = []
        self._listener = socket.socket()
        # Accepted connections inherit this buffer size: it limits the TCP window of the client.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, CHUNK_BYTES)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]
        self.max_message_bytes = 0
        """The largest number of bytes that a client sent without receiving data in between."""
        threading.Thread(target=self._accept, name="relay", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket()
                for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                    server.setsockopt(socket.SOL_SOCKET, option, CHUNK_BYTES)
                server.connect(self._target)
                self._sockets += [client, server]
                sent = [0]
                for run, ends in (
                    (self._forward_requests, (client, server)),
                    (self._forward_responses, (server, client)),
                ):
                    threading.Thread(target=run, args=(*ends, sent), name="relay", daemon=True).start()

    def _forward_requests(self, client: socket.socket, server: socket.socket, sent: list[int]) -> None:
        with suppress(OSError):
            while chunk := client.recv(CHUNK_BYTES):
                sent[0] += len(chunk)
                self.max_message_bytes = max(self.max_message_bytes, sent[0])
                server.sendall(chunk)
            server.shutdown(socket.SHUT_WR)

    def _forward_responses(self, server: socket.socket, client: socket.socket, sent: list[int]) -> None:
        with suppress(OSError):
            while chunk := server.recv(CHUNK_BYTES):
                sent[0] = 0
                client.sendall(chunk)
            client.shutdown(socket.SHUT_WR)
