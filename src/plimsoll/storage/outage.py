# SPDX-License-Identifier: Apache-2.0

"""The log lines of a database outage: one at its begin, one at its end. Failures in between are logged at DEBUG.

During an outage each request fails, each write is retried about 20 times, and background threads fail too. One line
for each failure would hide all other lines of the log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from plimsoll.storage.errors import DatabaseFault, NotWritable

LOG = logging.getLogger(__name__)


class Outage:
    """Records whether the database fails for this process at present. All methods are thread-safe."""

    def __init__(self, where: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._where = where
        self._clock = clock
        self._lock = threading.Lock()
        self.is_on = False
        self._began = 0.0
        self._writes_only = False
        self._failures = 0

    def note_failure(self, fault: DatabaseFault, *, write: bool = False) -> None:
        """Record that an operation failed, retries included. Faults of one operation only (a conflict) do not count."""
        if not fault.is_outage:
            return
        with self._lock:
            self._failures += 1
            if self.is_on:
                LOG.debug("Database outage goes on: %s", fault)
                return
            self.is_on, self._began = True, self._clock()
            # Reads succeed on a server that is read-only or full. They must not end the outage of writes.
            self._writes_only = write and isinstance(fault, NotWritable)
            LOG.error(
                "Database outage: %s: %s %s%s are answered with status 503 until it is over; further failures are logged at"
                " level DEBUG.",
                self._where,
                fault,
                f"{fault.advice} " if fault.advice else "",
                "Writes" if self._writes_only else "Requests that need the database",
            )

    def note_success(self, *, write: bool = False) -> None:
        """Record that an operation succeeded; it ends the outage, unless only writes fail and this was a read."""
        if not self.is_on:
            return
        with self._lock:
            if not self.is_on or (self._writes_only and not write):
                return
            LOG.warning(
                "Database outage over: %s works again after %.1f s, in which %s operations failed.",
                self._where,
                self._clock() - self._began,
                self._failures,
            )
            self.is_on, self._failures = False, 0
