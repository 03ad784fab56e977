# SPDX-License-Identifier: Apache-2.0

"""Looks at intervals whether memory still equals the database, and reads it anew if it does not.

A difference must never happen. If one does, an operator learns of it from the log, and clients do not.
"""

from __future__ import annotations

import logging
import random
import threading

from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences

LOG = logging.getLogger(__name__)

SHOWN = 5


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
                "Memory and the database disagree in %s places, reading it anew. This is a bug, please report it: %s",
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
            except Exception:
                LOG.exception("Could not compare memory with the database; trying again later")
