# SPDX-License-Identifier: Apache-2.0

"""Health: the database responds to a query, and the snapshot can follow the change log up to the head."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.service.placement import DatabaseFault, Placement

LOG = logging.getLogger(__name__)

OK = "ok"
UNREACHABLE = "cannot be queried"
NOT_CHECKED = "not checked"
BEHIND = "cannot be brought up to date"


@dataclass(frozen=True, slots=True)
class Health:
    """The state of each part: "ok", or a short text about the problem. The log has the reasons."""

    database: str
    snapshot: str

    @property
    def is_good(self) -> bool:
        return self.database == self.snapshot == OK


def check(placement: Placement) -> Health:
    """Check the database, then the snapshot. Blocks for as long as the database takes."""
    if not _succeeds(placement.ledger.database.head):
        return Health(UNREACHABLE, NOT_CHECKED)
    return Health(OK, OK if _succeeds(placement.ledger.snapshot) else BEHIND)


def _succeeds(operation: Callable[[], object]) -> bool:
    try:
        operation()
    except DatabaseFault as fault:
        level = logging.DEBUG if fault.is_outage else logging.WARNING  # the outage has log lines of its own
        LOG.log(level, "Not ready: %s", fault)
        return False
    except Exception:
        LOG.exception("Not ready")
        return False
    return True
