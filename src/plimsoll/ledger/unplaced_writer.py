# SPDX-License-Identifier: Apache-2.0

"""Record unplaced searches in the background: explain them, write them in batches, prune old ones.

A search only appends to a bounded queue. If the queue is full or the database fails, searches are dropped and counted:
no response depends on this module.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from plimsoll.domain.unplaced import UNEXPLAINED, SearchSummary, UnplacedQuery, UnplacedRequest
from plimsoll.domain.values import unhashable_value, value
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.search.request import CandidatesRequest
from plimsoll.storage import unplaced
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.sql import utc_now

LOG = logging.getLogger(__name__)

MAX_QUEUED = 500
"""Searches that wait to be recorded, at most. Each holds its snapshot in memory until it is explained."""
MAX_QUEUED_CHARS = 200_000
"""Characters of their queries, at most. A parsed query can take 150 times its length."""
MAX_BATCH = 32
"""Searches in one transaction, at most. On SQLite, claims wait for it."""
MAX_SUMMARIES = 100
"""Queries whose last summary is in memory."""
GATHER_SECONDS = 0.25
"""Between the first search of a batch and its transaction: a client that repeats a query causes few transactions."""
SAME_SUMMARY_SECONDS = 1.0
"""For which equal queries share a summary, whatever has changed since: a repeated query needs no computing."""
REST, MAX_REST_SECONDS = 2.0, 0.5
"""After an explanation the thread sleeps for twice its time: requests have most of the processor."""
PRUNE_SECONDS = 60.0
REPORT_SECONDS = 60.0
"""Between two log lines about dropped searches."""
ATTEMPTS = 3
"""For a batch that conflicts with that of another process."""
CLOSE_SECONDS = 3.0
"""In which the queued searches are written when the process ends."""

_NOT_IN_TIME = "It was not possible to find out why in time."


@value
class UnplacedLimits:
    """How much is stored; see the options of these names."""

    keep: int = 1_000
    keep_requests: int = 20_000
    keep_days: float = 7.0


@unhashable_value
class UnplacedSearch:
    """A search that found nothing in a snapshot."""

    snapshot: Snapshot
    request: CandidatesRequest
    query: UnplacedQuery
    query_chars: int
    """The length of the query, before it was shortened."""
    at: datetime
    request_id: str | None
    global_request_id: str | None
    user: str | None


Explain = Callable[[UnplacedSearch], SearchSummary]
"""Returns why the search found nothing. May yield to other requests, and must be bounded in time."""


class UnplacedWriter:
    """A queue and a daemon thread, which the first search starts. `add` may be called from any thread."""

    def __init__(
        self, database: Database, explain: Explain, limits: UnplacedLimits, metrics: Metrics = NO_METRICS
    ) -> None:
        self._database = database
        self._explain = explain
        self._limits = limits
        self._metrics = metrics
        self._queue: deque[UnplacedSearch] = deque()
        self._queued_chars = 0
        self._wake = database.runtime.new_event()
        self._start_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process = 0
        self._is_closed = False
        self.dropped = 0
        """Searches that were not recorded, since the last report."""
        self._fault = ""
        self._next_report = self._next_prune = 0.0
        self._summaries: dict[UnplacedQuery, tuple[float, SearchSummary]] = {}

    def add(self, search: UnplacedSearch) -> None:
        """Queue a search, or drop it if the queue is full. Never waits and never raises."""
        chars = self._queued_chars + search.query_chars
        if self._is_closed or len(self._queue) >= MAX_QUEUED or chars > MAX_QUEUED_CHARS:
            self.dropped += 1
            self._metrics.search_explained(UNEXPLAINED)
            return
        self._queued_chars = chars
        self._queue.append(search)
        if self._process != os.getpid():
            with contextlib.suppress(RuntimeError):  # no thread can be started: the next search tries again
                self._start()
        self._wake.set()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Write what is queued, within this time, and end the thread."""
        self._is_closed = True
        atexit.unregister(self.close)
        if self._thread is not None and self._process == os.getpid():
            self._wake.set()
            self._thread.join(seconds)

    def _start(self) -> None:
        """Start the thread: once, and again in the child of a fork, which has none of its parent's threads."""
        with self._start_lock:
            if self._process != os.getpid():
                self._thread = threading.Thread(target=self._run, name="unplaced", daemon=True)
                self._thread.start()
                self._process = os.getpid()
                atexit.register(self.close)

    def _run(self) -> None:
        while not (self._is_closed and not self._queue):
            if not self._queue:
                self._wake.wait(REPORT_SECONDS)
            if 0 < len(self._queue) < MAX_BATCH and not self._is_closed:
                time.sleep(GATHER_SECONDS)
            try:
                self._write_batch()
                self._prune_if_due()
            except Exception as error:  # this thread must not end
                self._fault = f"{type(error).__name__}: {error}".partition("\n")[0]
                LOG.debug("Searches that found nothing were not recorded", exc_info=True)
            self._report_if_due()

    def _write_batch(self) -> None:
        searches: dict[UnplacedQuery, list[UnplacedRequest]] = {}
        taken = 0
        while self._queue and taken < MAX_BATCH:
            search = self._queue.popleft()
            self._queued_chars = self._queued_chars - search.query_chars if self._queue else 0
            taken += 1
            searches.setdefault(search.query, []).append(self._explained(search))
        if not searches:
            return
        try:
            new = self._record(searches)
        except Exception:
            self.dropped += taken
            raise
        for query in new:
            _log_entry(query, searches[query][0])

    def _explained(self, search: UnplacedSearch) -> UnplacedRequest:
        now = time.monotonic()
        since, why = self._summaries.get(search.query, (0.0, None))
        if why is None or now - since > SAME_SUMMARY_SECONDS:
            if len(self._summaries) >= MAX_SUMMARIES:
                self._summaries.clear()
            why = self._summary(search)
            self._summaries[search.query] = now, why
            if not self._is_closed:
                time.sleep(REST * min(time.monotonic() - now, MAX_REST_SECONDS))
        self._metrics.search_explained(why.reason)
        return UnplacedRequest(search.at, search.request_id, search.global_request_id, search.user, why)

    def _summary(self, search: UnplacedSearch) -> SearchSummary:
        try:
            return self._explain(search)
        except Exception:
            LOG.exception("A search that found nothing was not explained. Query: %s", search.query.query)
            return SearchSummary(search.snapshot.revision, UNEXPLAINED, "unknown", _NOT_IN_TIME)

    def _record(self, searches: dict[UnplacedQuery, list[UnplacedRequest]]) -> list[UnplacedQuery]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self._database.background_transaction() as transaction:
                    new = unplaced.record(transaction.connection, searches, self._database.runtime.yield_now)
                    transaction.commit()
                    return new
            except Busy:
                if attempt == ATTEMPTS:
                    raise
        raise AssertionError("the loop returns or raises")

    def _prune_if_due(self) -> None:
        now = time.monotonic()
        if now < self._next_prune or self._is_closed:
            return
        self._next_prune = now + PRUNE_SECONDS
        limits = self._limits
        oldest = utc_now() - timedelta(days=limits.keep_days)
        pruned = 1
        while pruned and not self._is_closed:
            with self._database.background_transaction() as transaction:
                pruned = unplaced.prune(transaction.connection, limits.keep, limits.keep_requests, oldest)
                transaction.commit()

    def _report_if_due(self) -> None:
        now = time.monotonic()
        if self.dropped and now >= self._next_report:
            LOG.warning(
                "%s searches that found nothing were not recorded for /plimsoll/v1/unplaced: %s",
                self.dropped,
                self._fault or "there were more of them than can be written",
            )
            self.dropped, self._fault = 0, ""
            self._next_report = now + REPORT_SECONDS


def _log_entry(query: UnplacedQuery, first: UnplacedRequest) -> None:
    LOG.info(
        "No allocation candidates: %s Request: %s, global request: %s, project: %s. Query: %s",
        first.why.summary,
        first.request_id,
        first.global_request_id,
        query.project,
        query.query[:500],
    )
