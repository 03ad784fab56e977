# SPDX-License-Identifier: Apache-2.0

"""Who could serve each part of a request, and at which trees.

A slot is what one provider has to serve: a whole group with a suffix, or one resource class of the group
without. Its supply is everybody who could, by their own conditions; whether the choices for all slots go
together is asked later, tree by tree. The root of the tree that a candidate is built around is its anchor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import starmap

from plimsoll.domain.values import unhashable_value
from plimsoll.search import filters
from plimsoll.search.filters import Step, Tally, narrow
from plimsoll.search.index.bitset import NONE, RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.request import Conditions, Group


@unhashable_value
class Supply:
    """Who could serve a slot."""

    rows: RowSet
    """Providers that serve their own tree."""
    lenders: Mapping[int, RowSet]
    """Sharing providers, and the roots of the other trees they serve."""
    anchors: RowSet
    """The roots of all trees at which somebody could serve."""

    @property
    def lent_to(self) -> RowSet:
        anchors = NONE
        for roots in self.lenders.values():
            anchors |= roots
        return anchors


@unhashable_value
class Slot:
    suffix: str
    resources: Mapping[str, int]
    supply: Supply

    @property
    def one_provider(self) -> bool:
        return self.suffix != ""


def slots_of(
    index: Index, group: Group, roots: RowSet, tree: RowSet | None, tally: Tally | None = None
) -> Iterator[Slot]:
    """The slots of a group. `roots` may be anchors; `tree` is what in_tree asks for."""
    if group.one_provider or index.flat:
        yield Slot(group.suffix, group.resources, _supply_of_one(index, group, roots, tree, tally))
        return
    # Required traits may be spread over those who serve the classes. Where one serves all, it has them all.
    wanted = group.conditions if len(group.resources) == 1 else group.conditions._replace(required=())
    for resource_class, amount in group.resources.items():
        supply = _supply_of_class(index, wanted, resource_class, amount, roots, tree, tally)
        yield Slot(group.suffix, {resource_class: amount}, supply)


def _supply_of_one(
    index: Index, group: Group, roots: RowSet, tree: RowSet | None, tally: Tally | None
) -> Supply:
    """Who meets all conditions of the group and has all its resources."""
    wanted = group.conditions
    if not group.resources and not wanted.required and not wanted.member_of:
        # Nothing positive is asked of this provider: the API takes that as nobody, not as everybody.
        return Supply(NONE, {}, NONE)
    steps: list[Step] = []
    if tree is not None and group.resources:
        assert wanted.in_tree is not None
        steps.append(filters.InTree(wanted.in_tree, tree))
    steps += map(filters.HasTrait, wanted.required)
    if wanted.member_of:
        steps.append(filters.MemberOf(wanted.member_of))
    if wanted.not_member_of:
        steps.append(filters.NotMemberOf(wanted.not_member_of))
    if wanted.forbidden:
        steps.append(filters.LacksTraits(wanted.forbidden))
    steps += starmap(filters.admitting, group.resources.items())
    rows = narrow(index, index.live, steps, tally)
    return _supply(index, rows, rows & index.sharing, roots)


def _supply_of_class(
    index: Index,
    wanted: Conditions,
    resource_class: str,
    amount: int,
    roots: RowSet,
    tree: RowSet | None,
    tally: Tally | None,
) -> Supply:
    """Who has this resource, as one of several providers around a tree."""
    steps: list[Step] = []
    if tree is not None:
        assert wanted.in_tree is not None
        steps.append(filters.InTree(wanted.in_tree, tree))
    if wanted.forbidden:
        steps.append(filters.LacksTraits(wanted.forbidden))
    steps += map(filters.HasTrait, wanted.required)
    steps.append(filters.admitting(resource_class, amount))
    rows = narrow(index, index.live, steps, tally)
    sharing = rows & index.sharing if tree is None else NONE
    if wanted.not_member_of:
        rows = narrow(index, rows, [filters.NotMemberOf(wanted.not_member_of, tree=True)], tally)
        sharing = narrow(index, sharing, [filters.NotMemberOf(wanted.not_member_of)])
        roots &= ~filters.in_any(index, wanted.not_member_of)
    if wanted.member_of:
        # That the anchor is in an aggregate speaks for its own providers, not for those who share with it.
        rows = narrow(index, rows, [filters.MemberOf(wanted.member_of, tree=True)], tally)
        sharing = narrow(index, sharing, [filters.MemberOf(wanted.member_of)])
    return _supply(index, rows, sharing, roots)


def _supply(index: Index, rows: RowSet, sharing: RowSet, roots: RowSet) -> Supply:
    lenders: dict[int, RowSet] = {}
    anchors = index.roots_of(rows) & roots
    if sharing:
        root_by_row = index.root_by_row()
        for row in numbers_of(sharing, index.size).tolist():
            lent_to = index.anchors(row) & roots & ~(1 << root_by_row.item(row))
            if lent_to:
                lenders[row] = lent_to
                anchors |= lent_to
    return Supply(rows, lenders, anchors)
