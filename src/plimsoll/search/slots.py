# SPDX-License-Identifier: Apache-2.0

"""Split a request group into slots and find the providers that can serve each slot.

A slot is the part of a request that one provider serves: a whole group with a suffix, or one resource class of
the group without a suffix. The supply of a slot is the set of providers that meet the slot's own conditions. The
rules between slots (capacity, isolation, subtree) are checked later, tree by tree. A candidate is built around one
tree; the root of that tree is its anchor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import starmap

from plimsoll.domain.values import unhashable_value
from plimsoll.search import filters
from plimsoll.search.filters import FilterReport, Step, apply_filters
from plimsoll.search.index.bitset import NONE, RowSet, numbers_of, union
from plimsoll.search.index.index import Index
from plimsoll.search.request import Conditions, Group
from plimsoll.search.trace import GroupReport, SlotReport


@unhashable_value
class Supply:
    """The providers that can serve a slot."""

    rows: RowSet
    """Providers that can serve the slot in their own tree."""
    sharing_providers: Mapping[int, RowSet]
    """Sharing providers (by row), each with the roots of the other trees that it can serve."""
    anchors: RowSet
    """The roots of all trees in which at least one provider can serve the slot."""

    @property
    def shared_anchors(self) -> RowSet:
        """The roots of all trees that sharing providers of other trees can serve."""
        return union(self.sharing_providers.values())


@unhashable_value
class Slot:
    """The part of a request that one provider serves."""

    suffix: str
    resources: Mapping[str, int]
    supply: Supply

    @property
    def one_provider(self) -> bool:
        return self.suffix != ""


def slots_of(
    index: Index, group: Group, roots: RowSet, tree: RowSet | None, report: GroupReport | None = None
) -> Iterator[Slot]:
    """Yield the slots of a group. `roots` are the allowed anchors; `tree` holds the rows of the in_tree condition."""
    if group.one_provider or index.flat:
        yield Slot(group.suffix, group.resources, _supply_of_one(index, group, roots, tree, report))
        return
    # Several providers may have the required traits between them. A single class has a single provider, which has all.
    wanted = group.conditions if len(group.resources) == 1 else group.conditions._replace(required=())
    for resource_class, amount in group.resources.items():
        supply = _supply_of_class(index, wanted, resource_class, amount, roots, tree, report)
        yield Slot(group.suffix, {resource_class: amount}, supply)


def _supply_of_one(
    index: Index, group: Group, roots: RowSet, tree: RowSet | None, report: GroupReport | None
) -> Supply:
    """Return the providers that meet all conditions of the group and have room for all its resources."""
    wanted = group.conditions
    steps = _condition_steps(wanted, tree if group.resources or not tree else None, root_counts=False)
    if not group.resources and not wanted.required and not wanted.member_of:
        steps.append(filters.HasCondition())
    steps += starmap(filters.Admits, group.resources.items())
    rows = apply_filters(index, index.live, steps, _reports(report, group.resources, is_whole_group=True))
    return supply_of_rows(index, rows, rows & index.sharing, roots)


def _supply_of_class(
    index: Index,
    wanted: Conditions,
    resource_class: str,
    amount: int,
    roots: RowSet,
    tree: RowSet | None,
    report: GroupReport | None,
) -> Supply:
    """Return the providers with room for this resource, as one of several providers that serve the group."""
    steps = _condition_steps(wanted, tree, root_counts=True)
    steps.append(filters.Admits(resource_class, amount))
    reports = _reports(report, {resource_class: amount}, is_whole_group=False)
    rows = apply_filters(index, index.live, steps, reports)
    sharing = NONE
    if index.sharing and tree is None:
        sharing = apply_filters(index, index.sharing, map(sharing_form, steps))
    if wanted.not_member_of:
        roots &= ~filters.rows_in_any_aggregate(index, wanted.not_member_of)
    return supply_of_rows(index, rows, sharing, roots)


def _condition_steps(wanted: Conditions, tree: RowSet | None, *, root_counts: bool) -> list[Step]:
    """Return the filters of the conditions. `root_counts`: aggregates of the root count for all providers of its tree."""
    steps: list[Step] = []
    if tree is not None:
        assert wanted.in_tree is not None
        steps.append(filters.InTree(wanted.in_tree, tree))
    steps += map(filters.HasTrait, wanted.required)
    if wanted.forbidden:
        steps.append(filters.LacksTraits(wanted.forbidden))
    if wanted.member_of:
        steps.append(filters.MemberOf(wanted.member_of, tree=root_counts))
    if wanted.not_member_of:
        steps.append(filters.NotMemberOf(wanted.not_member_of, tree=root_counts))
    return steps


def sharing_form(step: Step) -> Step:
    """Return the filter for sharing providers of other trees: aggregates of their own root do not count for them."""
    return replace(step, tree=False) if isinstance(step, filters.MemberOf | filters.NotMemberOf) else step


def _reports(
    report: GroupReport | None, resources: Mapping[str, int], *, is_whole_group: bool
) -> list[FilterReport] | None:
    """Add a slot to the report of the group; return the list for its filters."""
    if report is None:
        return None
    slot = SlotReport(resources, is_whole_group, [])
    report.slots.append(slot)
    return slot.filters


def supply_of_rows(
    index: Index,
    rows: RowSet,
    sharing: RowSet,
    roots: RowSet,
    served_by: Callable[[int], RowSet] | None = None,
) -> Supply:
    """Return the supply of a slot that `rows` can serve in their own tree, and `sharing` in other trees.

    `served_by` returns the roots of the other trees that a sharing provider serves.
    """
    served_by = served_by or index.anchors_in_other_trees
    sharing_providers: dict[int, RowSet] = {}
    anchors = index.roots_of(rows) & roots
    if sharing:
        for row in numbers_of(sharing, index.size).tolist():
            shared_anchors = served_by(row) & roots
            if shared_anchors:
                sharing_providers[row] = shared_anchors
                anchors |= shared_anchors
    return Supply(rows, sharing_providers, anchors)
