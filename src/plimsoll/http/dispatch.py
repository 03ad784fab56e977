# SPDX-License-Identifier: Apache-2.0

"""Dispatch by path: one table of the applications that share this service, each with its own errors and headers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment


@dataclass(frozen=True, slots=True)
class Mounted:
    """An application at a path. The application gets the WSGI environment unchanged, with the whole path."""

    path: str
    """One path; if it ends with a slash, all paths that begin with it."""
    app: WSGIApplication
    immediate_paths: tuple[str, ...] = ()
    """Paths of it whose requests never wait, so that the server runs them without a permit."""


class Dispatch:
    """Call the application of the longest path that matches; `default` if there is none."""

    def __init__(self, default: Mounted, *others: Mounted) -> None:
        self._default = default.app
        self._at_path = {each.path: each.app for each in others if not each.path.endswith("/")}
        below = [each for each in others if each.path.endswith("/")]
        self._below = [(each.path, each.app) for each in sorted(below, key=lambda each: -len(each.path))]
        self.immediate_paths = frozenset(path for each in (default, *others) for path in each.immediate_paths)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return self._app_at(environ.get("PATH_INFO", ""))(environ, start_response)

    def _app_at(self, path: str) -> WSGIApplication:
        app = self._at_path.get(path)
        if app is not None:
            return app
        for prefix, app in self._below:
            if path.startswith(prefix):
                return app
        return self._default
