# SPDX-License-Identifier: Apache-2.0

"""Each response is counted once, with its route and status."""

from __future__ import annotations

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest

from plimsoll.http.middleware.request_metrics import ROUTE_KEY, RequestMetrics
from plimsoll.metrics import Metrics


class Recorded(Metrics):
    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []

    def request_done(self, route: str, method: str, status: str, seconds: float) -> None:
        assert seconds >= 0
        self.requests.append((route, method, status))


def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/broken":
        raise ValueError("broken")
    if environ["PATH_INFO"] != "/unknown":
        environ[ROUTE_KEY] = "/hosts/{name}"
    start_response("204 No Content" if environ["REQUEST_METHOD"] == "PUT" else "404 Not Found", [])
    return ()


def test_the_route_of_a_request_is_the_one_that_the_application_found() -> None:
    metrics = Recorded()
    for method, path in (("PUT", "/hosts/1"), ("GET", "/hosts/2"), ("GET", "/unknown")):
        RequestMetrics(app, metrics)({"REQUEST_METHOD": method, "PATH_INFO": path}, lambda *_: None)  # type: ignore[arg-type]
    assert metrics.requests == [
        ("/hosts/{name}", "PUT", "204"),
        ("/hosts/{name}", "GET", "404"),
        ("other", "GET", "404"),
    ]


def test_an_application_that_raises_is_a_500() -> None:
    metrics = Recorded()
    with pytest.raises(ValueError, match="broken"):
        RequestMetrics(app, metrics)({"REQUEST_METHOD": "GET", "PATH_INFO": "/broken"}, None)  # type: ignore[arg-type]
    assert metrics.requests == [("other", "GET", "500")]
