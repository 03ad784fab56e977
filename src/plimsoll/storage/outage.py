# SPDX-License-Identifier: Apache-2.0

"""The log lines of a database outage: one when it begins, one when it is over. All failures in between are DEBUG.

During an outage each request fails, each write is retried some 20 times, and threads in the background fail as well. With a
line for each of these, the log would show nothing else.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from plimsoll.storage.errors import DatabaseFault, Refusing

LOG = logging.getLogger(__name__)


class Outage:
    """Whether the database of this process fails at present. Every method may be called from any thread."""

    def __init__(self, where: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._where = where
        self._clock = clock
        self._changing = threading.Lock()
        self.is_on = False
        self._began = 0.0
        self._writes_only = False
        self._failures = 0

    def note_failure(self, fault: DatabaseFault, *, write: bool = False) -> None:
        """An operation failed, retries included. Faults of one operation alone, a lost race for instance, do not count."""
        if not fault.is_outage:
            return
        with self._changing:
            self._failures += 1
            if self.is_on:
                LOG.debug("Database outage goes on: %s", fault)
                return
            self.is_on, self._began = True, self._clock()
            # A server that is read-only or full answers reads. They must not end the outage of writes.
            self._writes_only = write and isinstance(fault, Refusing)
            LOG.error(
                "Database outage: %s: %s %s%s are answered with status 503 until it is over; further failures are logged at"
                " level DEBUG.",
                self._where,
                fault,
                f"{fault.advice} " if fault.advice else "",
                "Writes" if self._writes_only else "Requests that need the database",
            )

    def note_success(self, *, write: bool = False) -> None:
        """An operation succeeded."""
        if not self.is_on:
            return
        with self._changing:
            if not self.is_on or (self._writes_only and not write):
                return
            LOG.warning(
                "Database outage over: %s works again after %.1f s, in which %s operations failed.",
                self._where,
                self._clock() - self._began,
                self._failures,
            )
            self.is_on, self._failures = False, 0
