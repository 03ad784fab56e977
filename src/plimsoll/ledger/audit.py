# SPDX-License-Identifier: Apache-2.0

"""Compares memory with the database at intervals, and reads the database again if they differ.

A difference has one of two causes: another writer that does not append to the change log, or a bug. Both look the same
here, so that the log names both, and what to look at.
"""

from __future__ import annotations

import logging
import random
import threading

from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.storage.errors import DatabaseFault

LOG = logging.getLogger(__name__)

SHOWN = 5

DIFFERENCE = (
    "Memory differs from the database in %s places; the database is read again now. There are two possible causes: another"
    " program has written to the database (OpenStack Placement on the same database, SQL by hand, tables restored from a"
    " backup), or this is a bug of Plimsoll. Look at the sessions and users of the database; run `plimsoll db verify`. If"
    " nothing but Plimsoll writes, please report a bug with this line. Differences: %s"
)


class Audit:
    """A thread of its own, for as long as the process lives."""

    def __init__(self, ledger: Ledger, interval: float) -> None:
        self._ledger = ledger
        self._interval = interval
        self.repaired = 0
        """How often memory had to be read anew."""

    def start(self) -> None:
        threading.Thread(target=self._run, name="audit", daemon=True).start()

    def look(self) -> list[str]:
        """Compares once, and repairs what differs; returns what did."""
        found = differences(self._ledger)
        if found:
            LOG.error(
                DIFFERENCE,
                len(found),
                "; ".join(found[:SHOWN]),
            )
            self._ledger.reload()
            self.repaired += 1
        return found

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            # Workers that started together should not all look at once.
            pause.wait(self._interval * random.uniform(0.75, 1.25))
            try:
                self.look()
            except DatabaseFault as fault:
                level = logging.DEBUG if fault.is_outage else logging.WARNING  # an outage is logged as such
                LOG.log(level, "Memory was not compared with the database this time: %s", fault)
            except Exception:
                LOG.exception("Memory was not compared with the database this time")
