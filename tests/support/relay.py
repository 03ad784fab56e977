# SPDX-License-Identifier: Apache-2.0

"""A slow network between a client and a server: small socket buffers, and one small piece at a time."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

PIECE = 4096


class Relay:
    """Passes connections on to a server through buffers of a few kilobytes. To be closed."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._sockets: list[socket.socket] = []
        self._listener = socket.socket()
        # Accepted connections inherit the buffer: it limits the window that is offered to the client.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, PIECE)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]
        self.longest_message = 0
        """Bytes that a client sent since it last received something."""
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
                    server.setsockopt(socket.SOL_SOCKET, option, PIECE)
                server.connect(self._target)
                self._sockets += [client, server]
                sent = [0]
                for run, ends in (
                    (self._pass_requests, (client, server)),
                    (self._pass_answers, (server, client)),
                ):
                    threading.Thread(target=run, args=(*ends, sent), name="relay", daemon=True).start()

    def _pass_requests(self, client: socket.socket, server: socket.socket, sent: list[int]) -> None:
        with suppress(OSError):
            while piece := client.recv(PIECE):
                sent[0] += len(piece)
                self.longest_message = max(self.longest_message, sent[0])
                server.sendall(piece)
            server.shutdown(socket.SHUT_WR)

    def _pass_answers(self, server: socket.socket, client: socket.socket, sent: list[int]) -> None:
        with suppress(OSError):
            while piece := server.recv(PIECE):
                sent[0] = 0
                client.sendall(piece)
            client.shutdown(socket.SHUT_WR)
