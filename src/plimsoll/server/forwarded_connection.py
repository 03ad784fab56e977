# SPDX-License-Identifier: Apache-2.0

"""The writer's side of a connection on which another worker of the service forwards requests."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

from plimsoll.server.connection import Connection, Phase
from plimsoll.server.forwarding import PEER
from plimsoll.server.parser import Request, RequestError

if TYPE_CHECKING:
    from plimsoll.server.connections import Connections


class ForwardedConnection(Connection):
    """A Unix socket. Each request begins with a header that has the address of its client."""

    def __init__(self, connections: Connections, opened: socket.socket) -> None:
        super().__init__(connections, opened, ("another worker", 0))

    def expire(self) -> None:
        if self._is_receiving:
            self._end_input()
        else:
            super().expire()

    def shut_down(self) -> None:
        if self._is_receiving:
            self._end_input()
        else:
            super().shut_down()

    @property
    def _is_receiving(self) -> bool:
        return self._phase in (Phase.IDLE, Phase.RECEIVING)

    def _end_input(self) -> None:
        """Accept no further request. One that was sent already is received and processed; sending another one fails.

        Of a TCP connection, a request that arrives while it is closed would be lost.
        """
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RD)

    def _environ(self, request: Request) -> dict[str, Any]:
        if not request.headers or request.headers[0][0] != PEER:
            raise RequestError(400, "A worker must send the address of the client.")
        (_, peer), *request.headers = request.headers
        address, _, port = peer.decode("latin-1").rpartition(" ")
        return super()._environ(request) | {"REMOTE_ADDR": address, "REMOTE_PORT": port}

    def _set_options(self, opened: socket.socket) -> None:
        """It has no options of TCP."""

    def _limit_unsent(self) -> None:
        """The other worker receives without a pause."""
