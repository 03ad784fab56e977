# SPDX-License-Identifier: Apache-2.0

"""What every way of authenticating shares: which paths are open to all, the answer to a stranger, and what may
keep us from knowing who is asking.

The version document at the root is open, because load balancers and clients look at it before they have a
token. Everyone else without credentials gets one and the same 401.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import webob.exc


class IdentityUnavailable(Exception):
    """Nobody can say just now whose token this is. The request has not been looked at."""


class RemoteCallerRefused(Exception):
    """Someone on another machine asks to be believed without a proof."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"A request from {address} is refused: with auth_strategy = noauth2 only this machine is believed. Set"
            " [api]auth_strategy = keystone; or, if that network is yours alone, [plimsoll]allow_insecure_noauth = true."
        )


OPEN_PATHS = frozenset({"", "/"})


def unauthorized(
    environ: WSGIEnvironment, start_response: StartResponse, advice: str | None = None
) -> Iterable[bytes]:
    """Answer 401 in the form of the Accept header: WebOb's text, which clients match, and advice after it."""
    refusal = webob.exc.HTTPUnauthorized(advice)
    return refusal(environ, start_response)  # type: ignore[no-any-return]  # WebOb carries no types


IDENTITY_HEADERS = frozenset(
    f"HTTP_{prefix}_{name}"
    for prefix in ("X", "X_SERVICE")
    for name in (
        *("USER", "USER_ID", "USER_NAME", "USER_DOMAIN_ID", "USER_DOMAIN_NAME"),
        *("PROJECT_ID", "PROJECT_NAME", "PROJECT_DOMAIN_ID", "PROJECT_DOMAIN_NAME"),
        *("TENANT", "TENANT_ID", "TENANT_NAME", "DOMAIN_ID", "DOMAIN_NAME"),
        *("ROLE", "ROLES", "IDENTITY_STATUS"),
    )
) | {"HTTP_X_IS_ADMIN_PROJECT", "HTTP_X_SERVICE_CATALOG", "HTTP_OPENSTACK_SYSTEM_SCOPE"}
"""Headers that an authentication sets. Sent by a client, they are claims without a proof."""


def remove_identity_headers(environ: WSGIEnvironment) -> None:
    for name in IDENTITY_HEADERS.intersection(environ):
        del environ[name]


def without_identity_headers(app: WSGIApplication) -> WSGIApplication:
    """Remove the identity headers that a client sent before any layer can use or log them."""

    def removed(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        remove_identity_headers(environ)
        return app(environ, start_response)

    return removed
