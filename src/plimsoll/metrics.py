# SPDX-License-Identifier: Apache-2.0

"""The interface through which the layers report events that are counted or timed for `/metrics`.

`bootstrap` creates the implementation (`plimsoll.monitoring`) and passes it to each layer that reports. Gauges are not
reported: a scrape computes them from the snapshot.
"""

from __future__ import annotations

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable with the directory for the counters of several processes: of prometheus-client."""


class Metrics:
    """The interface of metrics. Its own methods do nothing: without `[plimsoll]metrics`, nothing is counted.

    Every label has a fixed set of values: names of routes and stages from the code, or names of classes.
    """

    def request_done(self, route: str, method: str, status: str, seconds: float) -> None:
        """Count a response. `route` is the path with the names of its values, never the path of the request."""

    def request_refused(self, status: int) -> None:
        """Count a response that the HTTP server sent by itself: the application did not get the request."""

    def read_repeated(self) -> None:
        """Count a read that was computed again, because another process had written in between."""

    def search_done(self, result: str) -> None:
        """Count a request for allocation candidates."""

    def search_explained(self, reason: str) -> None:
        """Count a request for allocation candidates that found none, by the reason. Called once for each, some time later."""

    def amount_unmet(self, resource_class: str, amount: int) -> None:
        """Add an amount of a request that found no candidates."""

    def search_stage_done(self, stage: str, seconds: float) -> None:
        """Add the time of one stage of a search."""

    def claims_done(self, count: int, refusal: object | None) -> None:
        """Count the claims of one request. They are accepted or refused together."""

    def conflict(self, refusal: object) -> None:
        """Count a response with status 409, by the class of its refusal."""

    def batch_committed(self, commands: int) -> None:
        """Add the size of a committed batch."""

    def commit_done(self, mode: str, seconds: float) -> None:
        """Add the time of a commit at the database."""

    def head_locked(self, waited: float, held: float) -> None:
        """Add the seconds in which a transaction waited for the lock of the head, and in which it held the lock.

        Both include the round trips. An optimistic commit waits and holds within one message: all of it counts as held.
        """

    def commit_retried(self, fault: Exception) -> None:
        """Count an attempt to commit that failed and is repeated, by the class of the fault."""

    def changes_followed(self, changes: int, seconds: float) -> None:
        """Add the time in which changes of other processes were read and applied."""

    def full_load_done(self, seconds: float) -> None:
        """Add the time of a full load of the database."""

    def database_failed(self, fault: Exception) -> None:
        """Count an operation that failed at the database, retries included, by the class of the fault."""

    def memory_verified(self, result: str) -> None:
        """Count a comparison of memory with the database."""


NO_METRICS = Metrics()
