# SPDX-License-Identifier: Apache-2.0

"""What every way of authenticating shares: which paths are open to all, the answer to a stranger, and what may
keep us from knowing who is asking.

The version document at the root is open, because load balancers and clients look at it before they have a
token. Everyone else without credentials gets one and the same 401.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import webob.exc


class IdentityUnavailable(Exception):
    """Nobody can say just now whose token this is. The request has not been looked at."""


class NotFromHere(Exception):
    """Someone on another machine asks to be believed without a proof."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"A request from {address} is refused: with auth_strategy = noauth2 only this machine is believed. Set"
            " [api]auth_strategy = keystone; or, if that network is yours alone, [plimsoll]allow_insecure_noauth = true."
        )


OPEN_PATHS = frozenset({"", "/"})


def unauthorized(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer 401 in the form that Accept asks for; clients know WebOb's words for it."""
    refusal = webob.exc.HTTPUnauthorized()
    return refusal(environ, start_response)  # type: ignore[no-any-return]  # WebOb carries no types
