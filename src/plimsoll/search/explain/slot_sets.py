# SPDX-License-Identifier: Apache-2.0

"""The filters of a slot, each applied to all rows instead of to the rows that the filters before it have kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.search import filters
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.filters import Filter
from plimsoll.search.index.bitset import NONE, RowSet
from plimsoll.search.index.index import Index
from plimsoll.search.slots import Supply, sharing_form
from plimsoll.search.trace import SlotReport

PARTS = (
    filters.HasInventory,
    filters.AboveMinUnit,
    filters.BelowMaxUnit,
    filters.MatchesStepSize,
    filters.FitsCapacity,
    filters.HasFree,
)
NEGATIVE = (filters.LacksTraits, filters.NotMemberOf)


@dataclass(frozen=True, slots=True, eq=False)
class StepSets:
    """The rows that one filter keeps. The rows that pass all filters of a slot are its supply."""

    step: Filter
    own: RowSet
    """The rows that pass in their own tree. A part of the capacity rule passes where it does not apply."""
    sharing: RowSet
    """The sharing providers that pass for other trees."""
    concerned: RowSet
    """The rows that the clause concerns when it is counted alone."""
    allowed: RowSet
    """The hosts that may be served at all."""

    def evaluated(self, hosts: Hosts) -> RowSet:
        """Return the hosts that the clause concerns."""
        return hosts.of(self.concerned, self.concerned & hosts.index.sharing)

    def met(self, hosts: Hosts) -> RowSet:
        """Return the hosts at which a provider of the tree, or a sharing provider that serves it, meets the clause."""
        return hosts.of(self.own & self.concerned, self.sharing & self.concerned) & self.allowed


class SlotSets:
    """All filters of one slot."""

    def __init__(self, hosts: Hosts, suffix: str, report: SlotReport) -> None:
        self.hosts = hosts
        self.suffix = suffix
        self.resources: Mapping[str, int] = report.resources
        self.is_whole_group = report.is_whole_group
        for each in report.filters:
            hosts.add_report(each)
        having_all = _rows_with_classes(hosts.index, report.resources)
        self.steps = [self._sets_of(each.step, having_all) for each in report.filters]
        self.all_rows = self.rows(frozenset())
        """Own rows, sharing providers and allowed hosts that pass all filters."""
        assert not report.filters or self.all_rows[0] == report.filters[-1].after, "other rows"

    def _sets_of(self, step: Filter, having_all: RowSet) -> StepSets:
        index = self.hosts.index
        own = self.hosts.rows_passing(step)
        concerned = allowed_rows = index.live
        if isinstance(step, PARTS):
            concerned = _rows_concerned(self.hosts, step)
            own |= index.live & ~concerned
        elif isinstance(step, NEGATIVE):
            # A provider without the resources mostly lacks the trait, too, which has no meaning for the host.
            concerned = having_all
        sharing = own & index.sharing
        if not self.is_whole_group and not isinstance(step, PARTS):
            if isinstance(step, filters.InTree):
                sharing = NONE
            elif sharing or index.sharing:
                sharing = sharing_form(step).keep(index, index.sharing)
            if isinstance(step, filters.NotMemberOf):
                allowed_rows &= ~filters.rows_in_any_aggregate(index, step.aggregates)
        return StepSets(step, own, sharing, concerned, allowed_rows & self.hosts.all)

    def rows(self, removed: frozenset[int]) -> tuple[RowSet, RowSet, RowSet]:
        """Return own rows, sharing providers and allowed hosts without the filters with these numbers."""
        own, sharing, allowed = self.hosts.index.live, self.hosts.index.sharing, self.hosts.all
        for number, sets in enumerate(self.steps):
            if number not in removed:
                own &= sets.own
                sharing &= sets.sharing
                allowed &= sets.allowed
        return own, sharing, allowed

    def supply(self, removed: frozenset[int] = frozenset(), *, serves_all: bool = False) -> Supply:
        own, sharing, allowed = self.rows(removed)
        return self.hosts.supply(own, sharing, allowed, serves_all=serves_all)

    def changed_hosts(self, removed: frozenset[int]) -> RowSet:
        """Return the hosts at which the slot has more options without these filters."""
        own, sharing, allowed = self.all_rows
        more_own, more_sharing, more_allowed = self.rows(removed)
        found = self.hosts.of(more_own & ~own, more_sharing & ~sharing)
        return found | self.hosts.all & more_allowed & ~allowed

    def parts_of(self, resource_class: str) -> frozenset[int]:
        """Return the numbers of the filters of one resource class."""
        return frozenset(
            number
            for number, sets in enumerate(self.steps)
            if isinstance(sets.step, PARTS) and sets.step.resource_class == resource_class
        )


def _rows_with_classes(index: Index, resources: Mapping[str, int]) -> RowSet:
    rows = index.live
    for name in resources:
        rows &= index.class_column(name).rows
    return rows


def _rows_concerned(hosts: Hosts, step: filters.Part) -> RowSet:
    """Return the rows that a part of the capacity rule concerns: a row that fails an earlier part is not counted twice."""
    if isinstance(step, filters.HasInventory):
        return hosts.index.live
    if isinstance(step, filters.HasFree):
        return hosts.rows_passing(filters.FitsCapacity(step.resource_class, step.amount))
    return hosts.index.class_column(step.resource_class).rows
