# SPDX-License-Identifier: Apache-2.0

"""Has a request identified, puts its `Caller` where the handlers find it, and turns strangers away.

What is believed of a caller is what the authentication has vouched for. A request that names no user is a 401,
except for the version document.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.access.authenticate import OPEN_PATHS, remove_identity_headers, unauthorized
from plimsoll.access.identity import NOBODY, Caller, caller_from_environ

LOG = logging.getLogger(__name__)

CALLER_KEY = "plimsoll.caller"

Authentication = Callable[[WSGIEnvironment], WSGIApplication | None]
"""Fills in the headers that it vouches for, or gives what answers instead."""


class Context:
    __slots__ = ("_app", "_authentication")

    def __init__(self, app: WSGIApplication, authentication: Authentication) -> None:
        self._app = app
        self._authentication = authentication

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "") in OPEN_PATHS:
            # No authentication has set these headers, so that they must be neither used nor logged.
            remove_identity_headers(environ)
            environ[CALLER_KEY] = NOBODY
            return self._app(environ, start_response)
        refusal = self._authentication(environ)
        if refusal is not None:
            return refusal(environ, start_response)
        caller = caller_from_environ(environ)
        if not caller.is_authenticated:
            LOG.debug("The authentication in front named no user: answering 401")
            return unauthorized(environ, start_response)
        environ[CALLER_KEY] = caller
        return self._app(environ, start_response)


def caller_of(environ: WSGIEnvironment) -> Caller:
    """The caller that `Context` found; nobody when it did not run."""
    caller: Caller = environ.get(CALLER_KEY, NOBODY)
    return caller
