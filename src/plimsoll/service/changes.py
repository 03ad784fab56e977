# SPDX-License-Identifier: Apache-2.0

"""The history of all writes: pages of described changes that meet conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from plimsoll.domain.change_description import AGGREGATES, ChangedEntity, ChangeDescription, describe
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.values import unhashable_value, value
from plimsoll.domain.world import World
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.change_log import (
    CURSOR_PATTERN,
    Cursor,
    CursorGone,
    CursorPruned,
    DescribedChange,
    LogBounds,
    LogPage,
    read_after,
    read_before,
    read_bounds,
)
from plimsoll.service.placement import Placement
from plimsoll.storage.changes import Change, LoggedChange
from plimsoll.storage.sql import utc_now

__all__ = [
    "CURSOR_PATTERN",
    "ChangeFilter",
    "ChangePage",
    "Cursor",
    "CursorGone",
    "CursorPruned",
    "DescribedChange",
    "LogBounds",
    "ProviderCondition",
    "bounds",
    "names_of",
    "now",
    "page_after",
    "page_before",
]

now = utc_now

CHANGES_PER_READ = 200
"""Changes that are read from the database at a time."""
MAX_EXAMINED = 5_000
"""Changes that one page examines: with conditions, few of them may meet these."""
MAX_EXAMINED_BYTES = 8 << 20
"""Length of the lines of the change log that one page examines, at most, beyond the last read."""
CLOCK_DIFFERENCE = timedelta(minutes=10)
"""How far the clocks of hosts may differ: times in the log are not in a strict order."""


@value
class ProviderCondition:
    """Some providers, and those that a change adds to an aggregate or removes from it."""

    providers: frozenset[str]
    aggregate: str | None = None

    def is_in(self, description: ChangeDescription) -> bool:
        if not self.providers.isdisjoint(description.providers_involved()):
            return True
        return self.aggregate is not None and any(
            self.aggregate in (side or {}).get(AGGREGATES, ())
            for each in description.providers.values()
            for side in (each.before, each.after)
        )


@value
class ChangeFilter:
    """Conditions: None is no condition."""

    providers: tuple[ProviderCondition, ...] = ()
    """The change concerns a provider of each of them."""
    consumer: str | None = None
    project: str | None = None
    operations: tuple[str, ...] = ()
    request_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    visible_project: str | None = None
    """Only consumers of this project are shown. A change of consumers of others alone is left out."""

    def select(self, logged: LoggedChange, semantics: DatabaseSemantics) -> DescribedChange | None:
        """Return the described change; None if it does not meet the conditions."""
        if not self._may_select(logged.change):
            return None
        description = describe(decode(logged.change.effects), semantics)
        return self.select_described(DescribedChange(logged.change, logged.mark, description))

    def select_described(self, described: DescribedChange) -> DescribedChange | None:
        """The same for a change that is described already, with all consumers."""
        if not self._may_select(described.change):
            return None
        description = described.description
        if self.visible_project is not None and description.consumers:
            seen = _of_project(description, self.visible_project)
            if not seen:
                return None
            description = replace(description, consumers=seen)
        if not self._selects(description):
            return None
        return (
            described if description is described.description else replace(described, description=description)
        )

    def _may_select(self, change: Change) -> bool:
        """Check what the row has, without decoding its effects."""
        actor = change.actor
        return (
            (not self.operations or change.operation in self.operations)
            and (self.request_id is None or self.request_id in (actor.request_id, actor.global_request_id))
            and (self.since is None or change.at >= self.since)
            and (self.until is None or change.at <= self.until)
            and (self.consumer is None or self.consumer in change.effects)
        )

    def _selects(self, description: ChangeDescription) -> bool:
        return (
            (self.consumer is None or self.consumer in description.consumers)
            and (
                self.project is None
                or any(self.project in description.projects_of(uuid) for uuid in description.consumers)
            )
            and all(each.is_in(description) for each in self.providers)
        )


def _of_project(description: ChangeDescription, project: str) -> dict[str, ChangedEntity]:
    return {
        uuid: each for uuid, each in description.consumers.items() if project in description.projects_of(uuid)
    }


@unhashable_value
class ChangePage:
    changes: list[DescribedChange]
    bounds: LogBounds
    next: Cursor | None
    """Where the next page begins; None if there is none. Oldest first, there is always one."""

    @property
    def has_more(self) -> bool:
        """Whether the log has later changes, which this page has not examined."""
        return self.next is not None and self.next.seq < self.bounds.head.seq


def bounds(placement: Placement) -> LogBounds:
    """Return what the change log has."""
    return read_bounds(placement.ledger.database)


def page_after(
    placement: Placement, cursor: Cursor, wanted: ChangeFilter, limit: int, pause: Callable[[], object]
) -> ChangePage | CursorGone:
    """Return the next changes after the cursor that meet the conditions, at most `limit`, the oldest first."""
    scan = _Scan(placement, cursor, wanted, limit, pause)
    while True:
        read = read_after(scan.database, scan.cursor or cursor, CHANGES_PER_READ)
        if not isinstance(read, LogPage):
            # Pruned between two reads: the next page reports it.
            return read if scan.bounds is None else ChangePage(scan.found, scan.bounds, scan.cursor)
        is_full = scan.examine(read)
        if not is_full and (scan.cursor or cursor).seq == read.bounds.head.seq:
            return ChangePage(scan.found, read.bounds, read.bounds.end)
        if is_full or scan.is_long:
            return ChangePage(scan.found, read.bounds, scan.cursor)


def page_before(
    placement: Placement, cursor: Cursor | None, wanted: ChangeFilter, limit: int, pause: Callable[[], object]
) -> ChangePage | CursorGone:
    """Return the changes before the cursor, or the newest, that meet the conditions, the newest first."""
    scan = _Scan(placement, cursor, wanted, limit, pause)
    while True:
        read = read_before(scan.database, scan.cursor, CHANGES_PER_READ)
        if not isinstance(read, LogPage):
            return read if scan.bounds is None else ChangePage(scan.found, scan.bounds, None)
        is_full = scan.examine(read)
        oldest = read.changes[-1].change if read.changes else None
        if (
            oldest is None
            or (scan.cursor is not None and scan.cursor.seq <= read.bounds.lowest + 1)
            or (wanted.since is not None and oldest.at < wanted.since - CLOCK_DIFFERENCE)
        ):
            return ChangePage(scan.found, scan.bounds or read.bounds, None)
        if is_full or scan.is_long:
            return ChangePage(scan.found, scan.bounds or read.bounds, scan.cursor)


class _Scan:
    """The changes of a page that were found so far, and the place up to which the log was examined."""

    def __init__(
        self,
        placement: Placement,
        cursor: Cursor | None,
        wanted: ChangeFilter,
        limit: int,
        pause: Callable[[], object],
    ) -> None:
        self.database = placement.ledger.database
        self.cursor = cursor
        self.found: list[DescribedChange] = []
        self.bounds: LogBounds | None = None
        self._semantics = placement.ledger.newest.world.semantics
        self._wanted = wanted
        self._limit = limit
        self._pause = pause
        self._examined = 0
        self._length = 0

    @property
    def is_long(self) -> bool:
        """True if the page ends here, so that the request ends in time."""
        return self._examined >= MAX_EXAMINED or self._length >= MAX_EXAMINED_BYTES

    def examine(self, read: LogPage) -> bool:
        """Examine changes in a row. True if the page is full: then the rest of them was not examined."""
        self.bounds = self.bounds or read.bounds
        for logged in read.changes:
            selected = self._wanted.select(logged, self._semantics)
            if selected is not None:
                self.found.append(selected)
            self.cursor = Cursor(read.bounds.epoch, logged.change.seq, logged.mark)
            self._examined += 1
            self._length += len(logged.change.effects)
            self._pause()
            if len(self.found) == self._limit:
                return True
        return False


def names_of(world: World, described: list[DescribedChange]) -> dict[str, str]:
    """Return the names of all providers in these changes: the present name, or else the last one that they have."""
    names: dict[str, str] = {}
    for each in sorted(described, key=lambda each: each.change.seq):
        for uuid, changed in each.description.providers.items():
            for side in (changed.before, changed.after):
                if side and "name" in side:
                    names[uuid] = side["name"]
    for each in described:
        for uuid in each.description.providers_involved():
            provider = world.providers.get(uuid)
            if provider is not None:
                names[uuid] = provider.name
    return names
