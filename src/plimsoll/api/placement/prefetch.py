# SPDX-License-Identifier: Apache-2.0

"""Prefetch: query the head before a GET is processed, so that the query overlaps with authentication and policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.api.placement.router import Place, Router
from plimsoll.service.placement import Placement

_FOUND_KEY, _PLACEMENT_KEY = "plimsoll.found", "plimsoll.placement"
"""Keys of the WSGI environment: the path and its place, and the placement whose head query is running."""

Found = tuple[Place, dict[str, str]]


class Prefetch:
    """Middleware that starts the head query for each GET of a resource that is read from memory."""

    __slots__ = ("_app", "_placement", "_prefix", "_router")

    def __init__(self, app: WSGIApplication, placement: Placement, router: Router, prefix: str) -> None:
        self._app = app
        self._placement = placement
        self._router = router
        self._prefix = prefix

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "GET" and _FOUND_KEY not in environ:
            environ.update(self._start(environ.get("PATH_INFO", "")))
        return self._app(environ, start_response)

    def start_for_target(self, target: str) -> dict[str, Any]:
        """Start the head query for a GET that is still being received; return additions to its environment.

        The target may be wrong or incomplete: the response is the same, but the request may not be faster.
        """
        return self._start(target.partition("?")[0].removeprefix(self._prefix))

    def _start(self, path: str) -> dict[str, Any]:
        found = self._router.find(path)
        additions: dict[str, Any] = {_FOUND_KEY: (path, found)}
        if found is not None and found[0].is_in_memory:
            try:
                additions[_PLACEMENT_KEY] = self._placement.for_reading(prefetch=True)
            except Exception:
                return additions  # the read itself raises it again
        return additions


def find_place(environ: WSGIEnvironment, router: Router) -> Found | None:
    """Return the place and the values of the path of a request. A prefetched place is used if its path is the same."""
    path = environ.get("PATH_INFO", "")
    prefetched: tuple[str, Found | None] | None = environ.get(_FOUND_KEY)
    return prefetched[1] if prefetched is not None and prefetched[0] == path else router.find(path)


def placement_for_read(environ: WSGIEnvironment, placement: Placement) -> Placement:
    """Return the placement whose head query was prefetched for this GET, or a new one."""
    return environ.get(_PLACEMENT_KEY) or placement.for_reading()
