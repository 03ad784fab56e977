# SPDX-License-Identifier: Apache-2.0

"""The cloud as of an earlier revision or time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from plimsoll.domain.values import value
from plimsoll.ledger.history import HistoryTooShort, HistoryUnfinished
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.budget import Budget
from plimsoll.service.placement import Placement
from plimsoll.storage import past_changes
from plimsoll.storage.epoch import revision_of
from plimsoll.storage.sql import utc_now

UNDO_SECONDS = 10.0
"""The time in which a request undoes changes. The next one continues where it ended."""


@value
class PastRevision:
    """A revision: the epoch of a history, or None for the present one, and the number of a change."""

    epoch: str | None
    seq: int


@value
class NoSuchPast:
    """The cloud cannot be shown as of then. `lowest` and `highest` are the revisions of which it can be shown."""

    lowest: str
    highest: str
    is_other_history: bool = False
    """True if the revision is of another history, or was never reached."""


@value
class PastUnfinished:
    """The time was not enough. `reached` is the revision from which the next request continues."""

    reached: str


def as_of(
    placement: Placement,
    when: PastRevision | datetime,
    pause: Callable[[], None],
    is_client_gone: Callable[[], bool],
) -> Placement | NoSuchPast | PastUnfinished:
    """Return the context of a read of the cloud as of then. A time after the last change gives the newest state.

    Raises SearchCancelled if the client has closed its connection.
    """
    newest, history = placement.ledger.snapshot(), placement.ledger.history
    seq = _seq(placement, newest, when)
    if seq is None:
        is_other = isinstance(when, PastRevision)
        return NoSuchPast(_revision(newest, history.lowest(newest)), newest.revision, is_other)
    pause()  # gives up the permit: other requests must not wait for it
    budget = Budget(UNDO_SECONDS, clock=time.monotonic, pause=pause, is_cancelled=is_client_gone)
    found = history.at(newest, seq, budget)
    if isinstance(found, HistoryTooShort):
        return NoSuchPast(_revision(newest, found.lowest), newest.revision)
    if isinstance(found, HistoryUnfinished):
        return PastUnfinished(_revision(newest, found.reached))
    return replace(placement, past=found)


def _seq(placement: Placement, newest: Snapshot, when: PastRevision | datetime) -> int | None:
    """Return the number of the last change up to then; None if this history has no such change."""
    if isinstance(when, datetime):
        highest = newest.head.seq
        return placement.ledger.database.run_read(lambda conn: past_changes.last_until(conn, when, highest))
    is_ours = when.epoch is None or when.epoch == newest.origin.epoch
    return when.seq if is_ours and when.seq <= newest.head.seq else None


def _revision(newest: Snapshot, seq: int) -> str:
    return revision_of(newest.origin.epoch, seq)


def now() -> datetime:
    """Return the current time as it is stored."""
    return utc_now()
