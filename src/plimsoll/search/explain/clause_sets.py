# SPDX-License-Identifier: Apache-2.0

"""The clauses of a request as sets of hosts: at which hosts each is met, and at which it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_

from plimsoll.search import filters
from plimsoll.search.explain import query_text
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.explain.slot_sets import PARTS, SlotSets
from plimsoll.search.filters import Filter, FilterReport
from plimsoll.search.index.bitset import NONE, RowSet, union
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.slots import Supply
from plimsoll.search.trace import GroupReport

ONE_PROVIDER = "one_provider"
SHARING = "sharing"
ROOT_REASONS = {"required": "root_required", "forbidden": "root_forbidden"}


@dataclass(frozen=True, slots=True, eq=False)
class ClauseSets:
    """One clause with its hosts. A host that is in neither set is not concerned."""

    reason: str
    group: str | None
    asked: str
    met: RowSet
    failed: RowSet
    step: Filter | None = None
    """The filter, for a clause of a single provider."""
    steps: tuple[tuple[int, int], ...] = ()
    """Where the filter is applied: numbers of the slot and of the filter in it."""
    rule_slots: tuple[int, ...] = ()
    """For a rule between slots: their numbers."""
    trait_item: int | None = None
    """For a required trait of a group that several providers serve: its number."""

    @property
    def resource_class(self) -> str | None:
        return self.step.resource_class if isinstance(self.step, PARTS) else None

    @property
    def is_of_root(self) -> bool:
        return self.reason in ROOT_REASONS.values()


@dataclass(slots=True, eq=False)
class GroupClauses:
    """The clauses of the root and of all groups, with the slots that they concern."""

    hosts: Hosts
    slots: list[SlotSets] = field(default_factory=list)
    supplies: list[Supply] = field(default_factory=list)
    clauses: list[ClauseSets] = field(default_factory=list)
    required_traits: list[RowSet] = field(default_factory=list)
    """The rows with each required trait of a group that several providers serve."""

    def add_roots(self, reports: Iterable[FilterReport]) -> None:
        for report in reports:
            step, reason = report.step, ROOT_REASONS[report.step.reason]
            met = step.keep(self.hosts.index, self.hosts.all)
            asked = query_text.of_root_filter(step)
            self.clauses.append(ClauseSets(reason, None, asked, met, self.hosts.all & ~met, step))

    def add_group(self, report: GroupReport) -> None:
        suffix, first = report.group.suffix, len(self.slots)
        self.slots += [SlotSets(self.hosts, suffix, slot) for slot in report.slots]
        self.supplies += [slot.supply() for slot in self.slots[first:]]
        clauses = [*self._conditions(report, first), *self._resources(report, first)]
        if not self.hosts.index.flat:
            clauses.append(self._one_provider(report, first, clauses))
        self.clauses += clauses
        self.hosts.budget.check()

    def _conditions(self, report: GroupReport, first: int) -> Iterator[ClauseSets]:
        """Yield the clauses that are not about resources. The slots of a group have the same ones."""
        if not report.slots:
            return
        is_split = len(report.slots) > 1
        for number, each in enumerate(report.slots[0].filters):
            if isinstance(each.step, filters.HasTrait | filters.InTree):
                yield self._clause(each.step, report, [(first + s, number) for s in range(len(report.slots))])
        if is_split:
            for item, any_of in enumerate(report.group.conditions.required):
                yield self._trait_of_several(filters.HasTrait(any_of), report, item)
        for number, each in enumerate(report.slots[0].filters):
            if not isinstance(each.step, (*PARTS, filters.HasTrait, filters.InTree)):
                yield self._clause(each.step, report, [(first + s, number) for s in range(len(report.slots))])

    def _trait_of_several(self, step: filters.HasTrait, report: GroupReport, item: int) -> ClauseSets:
        """Return the clause of a trait that one of several providers must have; here: any provider of the tree."""
        hosts = self.hosts
        rows = step.keep(hosts.index, hosts.index.live)
        self.required_traits.append(rows)
        met = hosts.of(rows, rows & hosts.index.sharing)
        suffix = report.group.suffix
        asked = query_text.of_filter(step, suffix)
        return ClauseSets(step.reason, suffix, asked, met, hosts.all & ~met, step, trait_item=item)

    def _resources(self, report: GroupReport, first: int) -> Iterator[ClauseSets]:
        for s, slot in enumerate(report.slots):
            for number, each in enumerate(slot.filters):
                if isinstance(each.step, PARTS):
                    yield self._clause(each.step, report, [(first + s, number)])

    def _clause(self, step: Filter, report: GroupReport, steps: Sequence[tuple[int, int]]) -> ClauseSets:
        evaluated = failed = NONE
        for slot, number in steps:
            sets = self.slots[slot].steps[number]
            concerned = sets.evaluated(self.hosts)
            evaluated |= concerned
            failed |= concerned & ~sets.met(self.hosts)
        reason, suffix = step.reason, report.group.suffix
        index = self.hosts.index
        if (
            isinstance(step, filters.HasInventory)
            and index.class_column(step.resource_class).rows & index.sharing
        ):
            reason = SHARING
        asked = query_text.of_filter(step, suffix, report.group.resources)
        return ClauseSets(reason, suffix, asked, evaluated & ~failed, failed, step, tuple(steps))

    def _one_provider(self, report: GroupReport, first: int, clauses: Sequence[ClauseSets]) -> ClauseSets:
        """Return the clause that fails where each clause of the group is met, but not by one provider."""
        evaluated = self.hosts.all & ~union(clause.failed for clause in clauses)
        served = reduce(and_, [supply.anchors for supply in self.supplies[first:]], self.hosts.all)
        group = report.group
        asked = query_text.of_one_provider(group)
        return ClauseSets(ONE_PROVIDER, group.suffix, asked, evaluated & served, evaluated & ~served)


def group_clauses(
    hosts: Hosts, request: CandidatesRequest, roots: Iterable[FilterReport], groups: Iterable[GroupReport]
) -> GroupClauses:
    """Evaluate the clauses of the root and of the groups. Raises BudgetExceeded."""
    found = GroupClauses(hosts)
    found.add_roots(roots)
    for report in groups:
        found.add_group(report)
    assert len(found.slots) >= len(request.groups), "a group without a slot"
    return found
