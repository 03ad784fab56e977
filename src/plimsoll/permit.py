# SPDX-License-Identifier: Apache-2.0

"""The permit that a request holds while the application processes it.

The server of `plimsoll serve` limits how many requests are processed at a time (`[plimsoll]threads`). A request that
waits for something other than the database, or computes for long, gives its permit to other requests meanwhile. Other
WSGI servers have no permits: there, every request has `UNLIMITED`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from wsgiref.types import WSGIEnvironment

ENVIRON_KEY = "plimsoll.permit"
"""Where the server puts the permit of a request in its WSGI environment."""


class Permit:
    """The interface of permits. Its own methods do nothing: other servers switch between threads by themselves."""

    waited = 0.0
    """Seconds that the request has waited for its permit."""

    longest_wait = 5.0
    """Seconds that a request may wait for changes: here it occupies a thread that others need."""

    def begin_stream(self) -> None:
        """Note that the response is a stream, whose next piece may come much later than the client has received the last."""

    def released(self) -> AbstractContextManager[None]:
        """Give up the permit for the duration of a `with` block, and take it again at its end."""
        return contextlib.nullcontext()

    def pause(self) -> None:
        """Yield to other requests. A long computation calls this about every millisecond.

        The first call releases the permit until the request ends, because a long computation needs no database.
        The computations of a worker that pause are resumed in rotation.
        """

    def wait_for_memory(self) -> bool:
        """Wait until clients have received enough of the long responses that are in memory; False on timeout.

        A request calls this before it builds a response of megabytes.
        """
        return True

    def begin_computation(self) -> None:
        """Queue behind the other computations that are waiting to be resumed, if there are any."""

    def is_client_gone(self) -> bool:
        """True if the client has closed its connection, so that no response can reach it."""
        return False

    def periodic_yield(self) -> Callable[[], None]:
        """Return a function that a long loop calls at each step: at intervals it yields to other requests."""
        return lambda: None

    def trim_memory(self) -> None:
        """Return freed memory to the operating system, after a response of many megabytes was built."""


UNLIMITED = Permit()


def permit_of(environ: WSGIEnvironment) -> Permit:
    """Return the permit of a request, or `UNLIMITED` where the server gives none."""
    permit: Permit = environ.get(ENVIRON_KEY, UNLIMITED)
    return permit
