# SPDX-License-Identifier: Apache-2.0

"""Call the application, as WSGI defines it, for the requests of one connection."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from plimsoll import permit
from plimsoll.server.parser import Request
from plimsoll.server.permits import RequestPermit
from plimsoll.server.response import has_length, status_line

if TYPE_CHECKING:
    from plimsoll.server.connections import Connections

LOG = logging.getLogger(__name__)

_RETRY_AFTER = ("retry-after", "5")


class ApplicationCall:
    """The present or last call. A connection has one object of it: it processes one request at a time."""

    def __init__(self, connections: Connections, descriptor: int) -> None:
        self.status = ""
        self.headers: list[tuple[str, str]] = []
        self.is_stream = False
        """True if the response is a stream: the time between two of its pieces is not the client's."""
        self._connections = connections
        self._descriptor = descriptor
        self._written: list[bytes] = []
        self._result: Iterable[bytes] = ()

    def call(self, request: Request, environ: dict[str, Any]) -> tuple[bytes, Iterator[bytes] | None] | None:
        """Return the body and None; or its first piece and the others, if its length is unknown.

        None if the application fails.
        """
        app = self._connections.app
        own_permit = RequestPermit(self._connections.permits, self._descriptor)
        environ[permit.ENVIRON_KEY] = own_permit
        self.status, self._written = "", []
        slot = self._connections.in_progress.begin(request.line)
        try:
            if environ["PATH_INFO"] not in app.immediate_paths and not own_permit.acquire():
                return self._overloaded(), None
            result = self._result = app(environ, self._start_response)
            pieces = None
            if isinstance(result, list | tuple):
                self._written.extend(result)
            else:
                pieces = iter(result)
                self._written.extend(islice(pieces, 1))  # an application may call start_response only now
            if not self.status:
                raise RuntimeError("The application did not call start_response")
            if pieces is not None and has_length(self.status, self.headers):
                self._written.extend(pieces)
                pieces = None
            return b"".join(self._written), pieces
        except Exception:
            LOG.exception("The application failed on %s %s", request.method, environ["PATH_INFO"])
            return None
        finally:
            self._written = []  # free the memory before the next request
            own_permit.finish()
            self.is_stream = own_permit.is_stream
            self._connections.in_progress.end(slot)

    def close(self, environ: dict[str, Any]) -> None:
        """Call the application's own function for the end of the response, if it has one."""
        result, self._result = self._result, ()
        close = getattr(result, "close", None)
        if close is not None:
            try:
                close()
            except Exception:
                LOG.exception("The application failed after its response to %s", environ["PATH_INFO"])

    def _start_response(self, status: str, headers: list[tuple[str, str]], _: Any = None) -> Any:
        self.status = status
        self.headers = list(headers)
        return self._written.append

    def _overloaded(self) -> bytes:
        seconds = self._connections.limits.queue_timeout
        headers, body = self._connections.app.error_response(
            503,
            f"The service is overloaded: the request has waited for {seconds:g} seconds. Nothing was changed. Try again.",
        )
        self.status, self.headers = status_line(503), [*headers, _RETRY_AFTER]
        return body
