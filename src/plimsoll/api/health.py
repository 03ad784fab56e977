# SPDX-License-Identifier: Apache-2.0

"""`/healthz` for load balancers and probes: no token, no version, no line in the request log.

`/healthz` responds at once: the process is alive. `/healthz?ready` also queries the database and updates the snapshot.
It responds within `READINESS_TIMEOUT`, even if the database hangs.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson

from plimsoll.api.single_flight import SingleFlight
from plimsoll.http.problems import JSON, STATUS_LINES
from plimsoll.http.response import length_header
from plimsoll.service import health
from plimsoll.service.health import Health
from plimsoll.service.placement import Placement

PATH = "/healthz"

READINESS_TIMEOUT = 1.5
"""Seconds that `?ready` waits for the database."""

ALIVE: dict[str, object] = {"status": "ok"}
TIMED_OUT = Health("timed out", health.NOT_CHECKED)


class Probes:
    """The WSGI application at `/healthz`."""

    def __init__(self, placement: Placement) -> None:
        self._readiness = SingleFlight(lambda: health.check(placement), "health")

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        status, content = 200, ALIVE
        headers = [("content-type", JSON), ("cache-control", "no-store")]
        if method not in ("GET", "HEAD"):
            status, content = 405, {"status": f"{method} is not allowed for {PATH}"}
            headers.append(("allow", "GET, HEAD"))
        elif "ready" in parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True):
            status, content = self._ready()
        body = orjson.dumps(content)
        start_response(STATUS_LINES[status], [*headers, length_header(body)])
        return () if method == "HEAD" else (body,)

    def _ready(self) -> tuple[int, dict[str, object]]:
        found = self._readiness.run(READINESS_TIMEOUT) or TIMED_OUT
        status = "ok" if found.is_good else "not ready"
        checks = {"database": found.database, "snapshot": found.snapshot}
        return 200 if found.is_good else 503, {"status": status, "checks": checks}
