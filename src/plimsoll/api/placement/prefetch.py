# SPDX-License-Identifier: Apache-2.0

"""Asks the database, before all else, whether memory has the present: the answer comes while others do their part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.api.placement.router import Place, Router
from plimsoll.service.placement import Placement

_FOUND, _SEEING = "plimsoll.found", "plimsoll.seeing"

Found = tuple[Place, dict[str, str]]


class Prefetch:
    """For reads that will be answered from memory, whoever makes them."""

    __slots__ = ("_app", "_placement", "_prefix", "_router")

    def __init__(self, app: WSGIApplication, placement: Placement, router: Router, prefix: str) -> None:
        self._app = app
        self._placement = placement
        self._router = router
        self._prefix = prefix

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "GET" and _FOUND not in environ:
            environ.update(self._asked(environ.get("PATH_INFO", "")))
        return self._app(environ, start_response)

    def foresee(self, target: str) -> dict[str, Any]:
        """For a GET that is coming in; what is told of it here is to be found in its environment.

        The target need not be the right one, nor whole: if it is not, nothing is gained.
        """
        return self._asked(target.partition("?")[0].removeprefix(self._prefix))

    def _asked(self, path: str) -> dict[str, Any]:
        found = self._router.find(path)
        asked: dict[str, Any] = {_FOUND: (path, found)}
        if found is not None and found[0].is_in_memory:
            try:
                asked[_SEEING] = self._placement.seeing(ahead=True)
            except Exception:
                return asked  # whoever reads finds out
        return asked


def found_at(environ: WSGIEnvironment, router: Router) -> Found | None:
    """What is at the path of a request. If it was looked up ahead, then perhaps for another path than it turned out."""
    path = environ.get("PATH_INFO", "")
    foreseen: tuple[str, Found | None] | None = environ.get(_FOUND)
    return foreseen[1] if foreseen is not None and foreseen[0] == path else router.find(path)


def seeing(environ: WSGIEnvironment, placement: Placement) -> Placement:
    """For this read."""
    return environ.get(_SEEING) or placement.seeing()
