# SPDX-License-Identifier: Apache-2.0

"""The functions of an application that the server calls beyond WSGI."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol
from wsgiref.types import StartResponse, WSGIEnvironment

ErrorResponse = tuple[list[tuple[str, str]], bytes]
"""Headers and body."""


class StartupError(Exception):
    """The application cannot be loaded, for a reason that the operator can fix and that needs no traceback."""


class ServedApplication(Protocol):
    immediate_paths: Collection[str]
    """Paths whose requests never wait, so that they need no permit."""

    shares_writer: bool
    """True if one worker of a service should process the requests of all workers that write: see `server.forwarding`."""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse, /) -> Iterable[bytes]:
        """Process a request, as WSGI defines it."""

    def end_waits(self) -> None:
        """End the responses that wait for something else than the database: the worker is about to stop.

        They have released their permits, or have called `Permit.begin_stream`.
        """

    def error_response(self, status: int, detail: str) -> ErrorResponse:
        """The response to a request that the server refuses by itself."""
