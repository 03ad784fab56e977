# SPDX-License-Identifier: Apache-2.0

"""Parts shared by all authentication strategies: open paths, the 401 response, identity headers, exceptions.

The version document at the root needs no token, because load balancers and clients read it before they have one.
Every other request without credentials gets the same 401.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import webob.exc

from plimsoll.identity_headers import ALL_HEADERS


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


def unauthorized(
    environ: WSGIEnvironment, start_response: StartResponse, advice: str | None = None
) -> Iterable[bytes]:
    """Respond 401 in the format of the Accept header: WebOb's text, which clients match, then the advice."""
    refusal = webob.exc.HTTPUnauthorized(advice)
    return refusal(environ, start_response)  # type: ignore[no-any-return]  # WebOb carries no types


def remove_identity_headers(environ: WSGIEnvironment) -> None:
    for name in ALL_HEADERS.intersection(environ):
        del environ[name]
