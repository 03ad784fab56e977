# SPDX-License-Identifier: Apache-2.0

"""The counters and histograms of `/metrics`, by prometheus-client.

With a directory for several processes (`PROMETHEUS_MULTIPROC_DIR`), each process writes its values to memory-mapped
files there, and a scrape of any process adds up all files. The files of a process that has ended stay, so that no
counter goes back. Without a directory the values are those of this process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, values
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector

from plimsoll.metrics import DIRECTORY_VARIABLE, Metrics

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
"""The label of a method that HTTP does not define, and of requests without a route."""
SEARCH_RESULTS = ("found", "empty", "cached", "failed")

SECONDS = (0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1, 10)
"""The bounds of all histograms of times."""
COMMANDS = (1, 2, 4, 8, 16, 64, 256)
"""The bounds of the histogram of batch sizes."""

_WORD_START = re.compile(r"(?<=.)([A-Z])")


class PrometheusMetrics(Metrics):
    """Counts events. Each method finds its counters in a dictionary: looking up labels costs more than counting."""

    def __init__(self, worker: int | None = None) -> None:
        """`worker` numbers the processes that run at the same time; by default the process id does."""
        self.is_shared = DIRECTORY_VARIABLE in os.environ
        # Chosen before the first counter is made. The library has no parameter for it.
        values.ValueClass = _value_class(worker) if self.is_shared else values.MutexValue
        # They would be a second series for each counter, which no dashboard needs.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        """The counters of this process."""
        self._requests = self._histogram(
            "request_seconds", "Time until the response was ready.", SECONDS, "route", "method", "status"
        )
        self._refused = self._counter(
            "refused_requests", "Responses that the HTTP server sent by itself.", "status"
        )
        self._repeated_reads = self._counter(
            "repeated_reads", "Reads computed again, because another process had written."
        )
        self._searches = self._counter("searches", "Requests for allocation candidates.", "result")
        self._stage_seconds = self._histogram(
            "search_stage_seconds", "Time of a stage of a search.", SECONDS, "stage"
        )
        self._claims = self._counter("claims", "Claims of consumers.", "result")
        self._conflicts = self._counter("conflicts", "Responses with status 409.", "reason")
        self._batch_commands = self._histogram("batch_commands", "Writes in one commit.", COMMANDS)
        self._commit_seconds = self._histogram(
            "commit_seconds", "Time of a commit at the database.", SECONDS, "mode"
        )
        self._head_wait_seconds = self._histogram(
            "head_wait_seconds", "Time in which a commit waited for the lock of the head.", SECONDS
        )
        self._head_held_seconds = self._histogram(
            "head_held_seconds", "Time in which a commit held the lock of the head.", SECONDS
        )
        self._commit_retries = self._counter("commit_retries", "Attempts to commit that failed.", "reason")
        self._followed = self._counter("followed_changes", "Changes of other processes that were applied.")
        self._follow_seconds = self._histogram(
            "follow_seconds", "Time to read and apply changes of other processes.", SECONDS
        )
        self._full_load_seconds = self._histogram(
            "full_load_seconds", "Time to load the whole database.", (0.1, 1, 10, 60)
        )
        self._database_errors = self._counter(
            "database_errors", "Operations that failed at the database.", "reason"
        )
        self._verifications = self._counter(
            "verifications", "Comparisons of memory with the database.", "result"
        )
        self._start_at_zero()
        self._by_request: dict[tuple[str, str, str], Histogram] = {}
        self._by_stage: dict[str, Histogram] = {}
        self._by_mode: dict[str, Histogram] = {}
        self._accepted_claims = self._claims.labels("accepted")
        self._refused_claims = self._claims.labels("refused")

    def _start_at_zero(self) -> None:
        """Make the series on which alerts are based: Prometheus does not see the first increase of a new series."""
        for result in SEARCH_RESULTS:
            self._searches.labels(result)
        for result in ("equal", "different"):
            self._verifications.labels(result)
        self._refused.labels(503)
        self._conflicts.labels("capacity_exceeded")
        self._commit_retries.labels("head_moved")
        self._database_errors.labels("unreachable")

    def collect(self) -> Iterable[Metric]:
        """Return the counters of all processes of the service, or of this one without a directory."""
        if self.is_shared:
            return MultiProcessCollector(None).collect()  # type: ignore[no-any-return,no-untyped-call]
        return self.registry.collect()

    def request_done(self, route: str, method: str, status: str, seconds: float) -> None:
        histogram = self._by_request.get((route, method, status))
        if histogram is None:
            name = method if method in METHODS else OTHER
            histogram = self._requests.labels(route, name, status)
            if name is not OTHER:  # else clients could let the dictionary grow
                self._by_request[route, method, status] = histogram
        histogram.observe(seconds)

    def request_refused(self, status: int) -> None:
        self._refused.labels(status).inc()

    def read_repeated(self) -> None:
        self._repeated_reads.inc()

    def search_done(self, result: str) -> None:
        self._searches.labels(result).inc()

    def search_stage_done(self, stage: str, seconds: float) -> None:
        histogram = self._by_stage.get(stage)
        if histogram is None:
            histogram = self._by_stage[stage] = self._stage_seconds.labels(stage)
        histogram.observe(seconds)

    def claims_done(self, count: int, refusal: object | None) -> None:
        (self._accepted_claims if refusal is None else self._refused_claims).inc(count)

    def conflict(self, refusal: object) -> None:
        self._conflicts.labels(_label(refusal)).inc()

    def batch_committed(self, commands: int) -> None:
        self._batch_commands.observe(commands)

    def commit_done(self, mode: str, seconds: float) -> None:
        histogram = self._by_mode.get(mode)
        if histogram is None:
            histogram = self._by_mode[mode] = self._commit_seconds.labels(mode)
        histogram.observe(seconds)

    def head_locked(self, waited: float, held: float) -> None:
        if waited:
            self._head_wait_seconds.observe(waited)
        self._head_held_seconds.observe(held)

    def commit_retried(self, fault: Exception) -> None:
        self._commit_retries.labels(_label(fault)).inc()

    def changes_followed(self, changes: int, seconds: float) -> None:
        self._followed.inc(changes)
        self._follow_seconds.observe(seconds)

    def full_load_done(self, seconds: float) -> None:
        self._full_load_seconds.observe(seconds)

    def database_failed(self, fault: Exception) -> None:
        self._database_errors.labels(_label(fault)).inc()

    def memory_verified(self, result: str) -> None:
        self._verifications.labels(result).inc()

    def _counter(self, name: str, description: str, *labels: str) -> Counter:
        return Counter(f"plimsoll_{name}", description, labels, registry=self.registry)

    def _histogram(self, name: str, description: str, bounds: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(f"plimsoll_{name}", description, labels, buckets=bounds, registry=self.registry)


def _label(value: object) -> str:
    """Return the name of the value's class as a label: capacity_exceeded for CapacityExceeded."""
    return _WORD_START.sub(r"_\1", type(value).__name__).lower()


def _value_class(worker: int | None) -> Any:
    """Return the class of values in memory-mapped files.

    A numbered worker runs all requests in one thread, and counting never yields: it needs no lock, which would take most
    of the time of counting.
    """
    if worker is None:
        return values.MultiProcessValue()  # type: ignore[no-untyped-call]
    locked: Any = values.MultiProcessValue(lambda: worker)  # type: ignore[no-untyped-call]

    class WorkerValue(locked):  # type: ignore[misc]
        def inc(self, amount: float) -> None:
            self._value += amount
            self._file.write_value(self._key, self._value, 0.0)

    return WorkerValue
