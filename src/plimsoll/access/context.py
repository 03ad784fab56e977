# SPDX-License-Identifier: Apache-2.0

"""Puts the `Caller` of a request where the handlers find it, and turns strangers away.

It stands behind the authentication and reads what that has vouched for. A request that names no user is a 401,
except for the version document.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.access.gate import is_open, unauthorized
from plimsoll.access.identity import NOBODY, Caller, caller_from_environ

LOG = logging.getLogger(__name__)

CALLER_KEY = "plimsoll.caller"


class Context:
    __slots__ = ("_app",)

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if is_open(environ):
            # Nobody vouched for these headers, so nobody is who they say.
            environ[CALLER_KEY] = NOBODY
            return self._app(environ, start_response)
        caller = caller_from_environ(environ)
        if not caller.is_authenticated:
            LOG.debug("The authentication in front named no user: answering 401")
            return unauthorized(environ, start_response)
        environ[CALLER_KEY] = caller
        return self._app(environ, start_response)


def caller_of(environ: WSGIEnvironment) -> Caller:
    """The caller that `Context` found; nobody when it did not run."""
    caller = environ.get(CALLER_KEY, NOBODY)
    assert isinstance(caller, Caller)
    return caller
