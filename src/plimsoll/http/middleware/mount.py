# SPDX-License-Identifier: Apache-2.0

"""Serve the application under a path prefix, for a proxy that does not strip it.

The prefix is moved from PATH_INFO to SCRIPT_NAME, so that links and locations contain it. Other paths go to `outside`.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


def mounted(prefix: str, inside: WSGIApplication, outside: WSGIApplication) -> WSGIApplication:
    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, before = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
        if before.endswith(prefix):  # the server or proxy in front has moved it already
            return inside(environ, start_response)
        if path != prefix and not path.startswith(prefix + "/"):
            return outside(environ, start_response)
        environ["SCRIPT_NAME"] = before + prefix
        environ["PATH_INFO"] = path[len(prefix) :]
        return inside(environ, start_response)

    return application


def normalize_prefix(prefix: str) -> str:
    """Return the prefix with a leading and without a trailing slash; empty if it has only slashes."""
    bare = prefix.strip().strip("/")
    return f"/{bare}" if bare else ""
