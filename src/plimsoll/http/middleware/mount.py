# SPDX-License-Identifier: Apache-2.0

"""The service under a prefix, for a proxy that passes paths on as they came; a server that mounts does the same.

What is below the prefix sees it as SCRIPT_NAME, so that links and locations have it. Nothing else is served.
"""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


class Mount:
    __slots__ = ("_inside", "_outside", "_prefix")

    def __init__(self, prefix: str, inside: WSGIApplication, outside: WSGIApplication) -> None:
        self._prefix = prefix
        self._inside = inside
        self._outside = outside

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path, before = environ.get("PATH_INFO", ""), environ.get("SCRIPT_NAME", "")
        if before.endswith(self._prefix):  # whoever is in front has taken it off
            return self._inside(environ, start_response)
        if path != self._prefix and not path.startswith(self._prefix + "/"):
            return self._outside(environ, start_response)
        environ["SCRIPT_NAME"] = before + self._prefix
        environ["PATH_INFO"] = path[len(self._prefix) :]
        return self._inside(environ, start_response)


def normal(prefix: str) -> str:
    """With a slash before it and none behind; nothing of what is nothing but slashes."""
    bare = prefix.strip().strip("/")
    return f"/{bare}" if bare else ""
