# SPDX-License-Identifier: Apache-2.0

"""`/healthz` for load balancers and probes: no token, no version, no line in the log of requests.

Asked plainly it says that the process is alive, and looks at nothing. `?ready` also asks the database and brings
memory up to it, and answers within a bounded time, however long the database may take.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from urllib.parse import parse_qs
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson

from plimsoll.http.problems import JSON, STATUS_LINES
from plimsoll.service import health
from plimsoll.service.health import Health
from plimsoll.service.placement import Placement

PATH = "/healthz"

PATIENCE = 1.5
"""Seconds that the database has for its answer."""

ALIVE: dict[str, object] = {"status": "ok"}
NO_ANSWER = Health("no answer in time", health.NOT_CHECKED)


class Probes:
    """Answers them."""

    def __init__(self, placement: Placement) -> None:
        self._readiness = Readiness(lambda: health.look(placement))

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        status, said = 200, ALIVE
        headers = [("content-type", JSON), ("cache-control", "no-store")]
        if method not in ("GET", "HEAD"):
            status, said = 405, {"status": f"{method} is not for {PATH}"}
            headers.append(("allow", "GET, HEAD"))
        elif "ready" in parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True):
            status, said = self._ready()
        body = orjson.dumps(said)
        start_response(STATUS_LINES[status], [*headers, ("content-length", str(len(body)))])
        return () if method == "HEAD" else (body,)

    def _ready(self) -> tuple[int, dict[str, object]]:
        found = self._readiness.seen(PATIENCE)
        word = "ok" if found.is_good else "not ready"
        checks = {"database": found.database, "snapshot": found.snapshot}
        return 200 if found.is_good else 503, {"status": word, "checks": checks}


class Readiness:
    """One look at a time, however many ask. One that hangs is waited for again by whoever asks next."""

    def __init__(self, look: Callable[[], Health]) -> None:
        self._look = look
        self._beginning = threading.Lock()
        self._under_way: Future[Health] | None = None

    def seen(self, seconds: float) -> Health:
        with self._beginning:
            if self._under_way is None or self._under_way.done():
                self._under_way = self._begin()
            looking = self._under_way
        try:
            return looking.result(seconds)
        except TookTooLong:
            return NO_ANSWER

    def _begin(self) -> Future[Health]:
        looking: Future[Health] = Future()
        # Not of a pool: a look that hangs must not keep the process from ending.
        threading.Thread(target=lambda: looking.set_result(self._look()), name="health", daemon=True).start()
        return looking
