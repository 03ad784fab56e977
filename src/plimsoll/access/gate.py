# SPDX-License-Identifier: Apache-2.0

"""What every way of authenticating shares: which paths are open to all, and the answer to a stranger.

The version document at the root is open, because load balancers and clients look at it before they have a
token. Everyone else without credentials gets one and the same 401.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import webob.exc

OPEN_PATHS = frozenset({"", "/"})


def is_open(environ: WSGIEnvironment) -> bool:
    return environ.get("PATH_INFO", "") in OPEN_PATHS


def unauthorized(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer 401 in the form that Accept asks for; clients know WebOb's words for it."""
    refusal = webob.exc.HTTPUnauthorized()
    return refusal(environ, start_response)  # type: ignore[no-any-return]  # WebOb carries no types
