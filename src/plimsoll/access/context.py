# SPDX-License-Identifier: Apache-2.0

"""Middleware that authenticates each request and stores its `Caller` in the WSGI environment.

Only headers that the authentication has set or verified are used. A request without a user gets a 401, except for the
version document.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.access.authenticate import OPEN_PATHS, remove_identity_headers, unauthorized
from plimsoll.access.identity import ANONYMOUS, Caller, caller_from_environ

LOG = logging.getLogger(__name__)

CALLER_KEY = "plimsoll.caller"

Authentication = Callable[[WSGIEnvironment], WSGIApplication | None]
"""Sets the identity headers of a valid request, or returns an application that responds with the refusal."""


class Context:
    __slots__ = ("_app", "_authentication")

    def __init__(self, app: WSGIApplication, authentication: Authentication) -> None:
        self._app = app
        self._authentication = authentication

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "") in OPEN_PATHS:
            # These headers come from the client and are not verified: they must be neither used nor logged.
            remove_identity_headers(environ)
            environ[CALLER_KEY] = ANONYMOUS
            return self._app(environ, start_response)
        refusal = self._authentication(environ)
        if refusal is not None:
            return refusal(environ, start_response)
        caller = caller_from_environ(environ)
        if not caller.is_authenticated:
            LOG.debug("The authentication set no user: responding with 401")
            return unauthorized(environ, start_response)
        environ[CALLER_KEY] = caller
        return self._app(environ, start_response)


def caller_of(environ: WSGIEnvironment) -> Caller:
    """Return the caller that `Context` stored, or ANONYMOUS if it did not run."""
    caller: Caller = environ.get(CALLER_KEY, ANONYMOUS)
    return caller
