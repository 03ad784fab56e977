# SPDX-License-Identifier: Apache-2.0

"""Whether this process can answer: the database does, and what memory has can be brought up to it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.service.placement import DatabaseFault, Placement

LOG = logging.getLogger(__name__)

OK = "ok"
UNREACHABLE = "cannot be asked"
NOT_CHECKED = "not checked"
BEHIND = "cannot be brought up to date"


@dataclass(frozen=True, slots=True)
class Health:
    """What is said of each part: "ok", or in a few words what it is not. The log has the reasons."""

    database: str
    snapshot: str

    @property
    def is_good(self) -> bool:
        return self.database == self.snapshot == OK


def look(placement: Placement) -> Health:
    """Takes as long as the database does."""
    if not _works(placement.ledger.database.head):
        return Health(UNREACHABLE, NOT_CHECKED)
    return Health(OK, OK if _works(placement.ledger.snapshot) else BEHIND)


def _works(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except DatabaseFault as fault:
        level = logging.DEBUG if fault.is_outage else logging.WARNING  # an outage is logged as such
        LOG.log(level, "Not ready: %s", fault)
        return False
    except Exception:
        LOG.exception("Not ready")
        return False
    return True
