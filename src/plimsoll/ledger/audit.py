# SPDX-License-Identifier: Apache-2.0

"""Periodic audit: compare memory with the database, and reload memory if they differ.

A difference has one of two causes: another program that writes without appending to the change log, or a bug. They
cannot be distinguished here, so the log line names both, and the next steps for the operator.
"""

from __future__ import annotations

import logging
import random
import threading

from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.metrics import NO_METRICS, Metrics
from plimsoll.storage.errors import DatabaseFault

LOG = logging.getLogger(__name__)

MAX_SHOWN = 5

DIFFERENCE = (
    "Memory differs from the database in %s places; memory is reloaded from the database now. There are two possible"
    " causes: another program has written to the database (OpenStack Placement on the same database, SQL by hand,"
    " tables restored from a backup), or this is a bug of Plimsoll. Check the sessions and users of the"
    " database; run `plimsoll db verify`. If nothing but Plimsoll writes, please report a bug with this line."
    " Differences: %s"
)


class Audit:
    """A daemon thread that runs until the process ends."""

    def __init__(self, ledger: Ledger, interval: float, metrics: Metrics = NO_METRICS) -> None:
        self._ledger = ledger
        self._metrics = metrics
        self._interval = interval
        self._random = random.Random()
        """Not the global generator: its state changes only where a caller uses it, so that seeded code can be repeated."""

    def start(self) -> None:
        threading.Thread(target=self._run, name="audit", daemon=True).start()

    def check(self) -> list[str]:
        """Compare once, reload memory if it differs, and return the differences."""
        found = differences(self._ledger)
        self._metrics.memory_verified("different" if found else "equal")
        if found:
            LOG.error(DIFFERENCE, len(found), "; ".join(found[:MAX_SHOWN]))
            self._ledger.reload()
        return found

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            # Workers that started together should not all read the database at the same time.
            pause.wait(self._interval * self._random.uniform(0.75, 1.25))
            try:
                self.check()
            except DatabaseFault as fault:
                # An outage has log lines of its own.
                level = logging.DEBUG if fault.is_outage else logging.WARNING
                LOG.log(level, "Memory was not compared with the database this time: %s", fault)
            except Exception:
                LOG.exception("Memory was not compared with the database this time")
