# SPDX-License-Identifier: Apache-2.0

"""Middleware that authenticates each request and stores its `Caller` in the WSGI environment.

Only headers that the authentication has set or verified are used. The version document at the root needs no token,
because load balancers and clients read it before they have one. Every other request without a user gets the same 401.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import webob.exc

from plimsoll.access.identity import ANONYMOUS, Caller, caller_from_environ
from plimsoll.identity_headers import ALL_HEADERS

LOG = logging.getLogger(__name__)


class IdentityUnavailable(Exception):
    """The token cannot be validated at present. The request was not processed."""


class RemoteCallerRefused(Exception):
    """A request from another machine, with noauth2, which does not verify callers."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"A request from {address} is refused: with auth_strategy = noauth2 only requests from this machine are"
            " accepted. Set [api]auth_strategy = keystone; or, if only you can use that network,"
            " [plimsoll]allow_insecure_noauth = true."
        )


OPEN_PATHS = frozenset({"", "/"})
CALLER_KEY = "plimsoll.caller"

Authentication = Callable[[WSGIEnvironment], WSGIApplication | None]
"""Sets the identity headers of a valid request, or returns an application that responds with the refusal."""


def unauthorized(
    environ: WSGIEnvironment, start_response: StartResponse, advice: str | None = None
) -> Iterable[bytes]:
    """Respond 401 in the format of the Accept header: WebOb's text, which clients match, then the advice."""
    refusal = webob.exc.HTTPUnauthorized(advice)
    return refusal(environ, start_response)  # type: ignore[no-any-return]  # WebOb carries no types


def remove_identity_headers(environ: WSGIEnvironment) -> None:
    for name in ALL_HEADERS.intersection(environ):
        del environ[name]


def without_authentication(app: WSGIApplication) -> WSGIApplication:
    """Wrap an application that needs no token: each of its requests has the caller ANONYMOUS."""
    return partial(_call_as_anonymous, app)


def _call_as_anonymous(
    app: WSGIApplication, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    # These headers come from the client and are not verified: they must be neither used nor logged.
    remove_identity_headers(environ)
    environ[CALLER_KEY] = ANONYMOUS
    return app(environ, start_response)


class AuthenticationMiddleware:
    """Authenticate each request, except those of OPEN_PATHS, before it reaches the application."""

    def __init__(self, app: WSGIApplication, authentication: Authentication) -> None:
        self._app = app
        self._authentication = authentication

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO", "") in OPEN_PATHS:
            return _call_as_anonymous(self._app, environ, start_response)
        refusal = self._authentication(environ)
        if refusal is not None:
            return refusal(environ, start_response)
        caller = caller_from_environ(environ)
        if caller.user_id is None:
            LOG.debug("The authentication set no user: responding with 401")
            return unauthorized(environ, start_response)
        environ[CALLER_KEY] = caller
        return self._app(environ, start_response)


def caller_of(environ: WSGIEnvironment) -> Caller:
    """Return the caller that `AuthenticationMiddleware` stored, or ANONYMOUS if it did not run."""
    caller: Caller = environ.get(CALLER_KEY, ANONYMOUS)
    return caller
