# SPDX-License-Identifier: Apache-2.0

"""`/healthz` for load balancers and probes: no token, no version, no line in the request log.

`/healthz` responds at once: the process is alive. `/healthz?ready` also queries the database and updates the snapshot.
It responds within `READINESS_TIMEOUT`, even if the database hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson

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
        self._readiness = Readiness(lambda: health.check(placement))

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
        found = self._readiness.check(READINESS_TIMEOUT)
        status = "ok" if found.is_good else "not ready"
        checks = {"database": found.database, "snapshot": found.snapshot}
        return 200 if found.is_good else 503, {"status": status, "checks": checks}


class Readiness:
    """Run one health check at a time. Probes that arrive while one is running wait for that one, even if it hangs."""

    def __init__(self, check: Callable[[], Health]) -> None:
        self._run = check
        self._lock = threading.Lock()
        self._running: Future[Health] | None = None

    def check(self, timeout: float) -> Health:
        with self._lock:
            if self._running is None or self._running.done():
                self._running = self._start()
            running = self._running
        try:
            return running.result(timeout)
        except FutureTimeout:
            return TIMED_OUT

    def _start(self) -> Future[Health]:
        running: Future[Health] = Future()
        # A daemon thread and not a pool: a check that hangs must not keep the process from ending.
        threading.Thread(target=lambda: running.set_result(self._run()), name="health", daemon=True).start()
        return running
