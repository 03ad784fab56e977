# SPDX-License-Identifier: Apache-2.0

"""Asks the database, before all else, whether memory has the present: the answer comes while others do their part."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.service.placement import Placement
from plimsoll.wire.router import Place, Router

_FOUND, _SEEING = "plimsoll.found", "plimsoll.seeing"

Found = tuple[Place, dict[str, str]]


class Ahead:
    """For reads that will be answered from memory, whoever makes them."""

    __slots__ = ("_app", "_placement", "_prefix", "_router")

    def __init__(self, app: WSGIApplication, placement: Placement, router: Router, prefix: str) -> None:
        self._app = app
        self._placement = placement
        self._router = router
        self._prefix = prefix

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "GET" and _SEEING not in environ:
            found = environ[_FOUND] = self._router.find(environ.get("PATH_INFO", ""))
            environ.update(self._asked(found))
        return self._app(environ, start_response)

    def foresee(self, target: str) -> dict[str, Any]:
        """For a GET that is coming in; what is told of it here is to be found in its environment.

        The target need not be the right one, nor whole: if it is not, nothing is gained.
        """
        path = target.partition("?")[0].removeprefix(self._prefix)
        return self._asked(self._router.find(path))

    def _asked(self, found: Found | None) -> dict[str, Any]:
        if found is not None and found[0].is_in_memory:
            with contextlib.suppress(Exception):  # whoever reads finds out
                return {_SEEING: self._placement.seeing(ahead=True)}
        return {}


def found_in(environ: WSGIEnvironment) -> Found | None:
    """What is at the path, if that was looked up."""
    found: Found | None = environ.get(_FOUND)
    return found


def seeing(environ: WSGIEnvironment, placement: Placement) -> Placement:
    """For this read."""
    return environ.get(_SEEING) or placement.seeing()
