# SPDX-License-Identifier: Apache-2.0

"""Count each response, by route, method and status, and add the time until it was ready."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from plimsoll.http.response import Headers
from plimsoll.metrics import Metrics
from plimsoll.permit import permit_of

ROUTE_KEY = "plimsoll.route"
"""Key of the WSGI environment: an API sets it to the path of the route, with the names of its values."""
NO_ROUTE = "other"
"""The route of unknown paths, and of requests that are refused before their route is found (401, 406)."""


class RequestMetrics:
    def __init__(self, app: WSGIApplication, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        status = "500"  # if the application raises

        def start(line: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], object]:
            nonlocal status
            status = line[:3]
            return start_response(line, headers, exc_info) if exc_info else start_response(line, headers)

        began = time.perf_counter()
        try:
            return self._app(environ, start)
        finally:
            seconds = time.perf_counter() - began + permit_of(environ).waited
            route = environ.get(ROUTE_KEY, NO_ROUTE)
            self._metrics.request_done(route, environ["REQUEST_METHOD"], status, seconds)
