# SPDX-License-Identifier: Apache-2.0

"""Find the nearest amounts of one resource class with which a request has candidates.

The columns have the largest lower amount that each provider could serve and, for providers whose units exclude the
requested amount, the smallest larger one. Only these amounts are checked by a search, the nearest first, and mostly one
search is enough.
"""

from __future__ import annotations

from itertools import starmap

import numpy as np

from plimsoll.domain.refusals import Refusal
from plimsoll.search import filters
from plimsoll.search.filters import Step, apply_filters
from plimsoll.search.index.bitset import NONE, RowSet, mask_of
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan, allowed_roots, plan_group, rows_of_tree
from plimsoll.search.relax.changes import apply, with_amount, without_class, without_group
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.slots import Slot

_MAX_IN_ORDER = 8
"""Amounts that are checked one by one. Beyond it, the amount is found by bisection, and a larger one may fit too."""
_MAX_SUMS = 32
"""Sums of other amounts on the same provider that are considered, at most."""


def largest_amount(
    search: RepeatedSearch, index: Index, request: CandidatesRequest, group: Group, resource_class: str
) -> int | None:
    """Return the largest lower amount of this class with which there are candidates, or None."""
    amounts = _possible_amounts(search, index, request, group, resource_class)

    def is_served(amount: int) -> bool:
        return search.is_served(index, apply(request, with_amount(group, resource_class, amount)))

    for amount in amounts[:_MAX_IN_ORDER]:
        if is_served(amount):
            return amount
    low, high = _MAX_IN_ORDER, len(amounts)
    while low < high:  # amounts before `low` were not served, those from `high` on were, or are none
        middle = (low + high) // 2
        if is_served(amounts[middle]):
            high = middle
        else:
            low = middle + 1
    return amounts[high] if high < len(amounts) else None


def smallest_larger_amount(
    search: RepeatedSearch, index: Index, request: CandidatesRequest, group: Group, resource_class: str
) -> int | None:
    """Return the smallest larger amount with which providers have candidates that do not allow the requested one.

    Their min_unit or step_size excludes the requested amount. None if there is none among the first few.
    """
    amounts = _possible_amounts(search, index, request, group, resource_class, larger=True)
    for amount in amounts[:_MAX_IN_ORDER]:
        if search.is_served(index, apply(request, with_amount(group, resource_class, amount))):
            return amount
    return None


def _possible_amounts(
    search: RepeatedSearch,
    index: Index,
    request: CandidatesRequest,
    group: Group,
    resource_class: str,
    *,
    larger: bool = False,
) -> list[int]:
    """Return the amounts that a provider could serve if it met all other conditions, the nearest to the requested first."""
    anchors = _anchors_without(search, index, request, group, resource_class)
    if not anchors:
        return []
    column, requested = index.class_column(resource_class), group.resources[resource_class]
    rows = _rows_for(search, index, group, resource_class, index.rows_of_trees(anchors) | index.sharing)
    if larger:
        rows &= ~column.rows_allowing(requested)
    mask = mask_of(rows, index.size)
    amounts: set[int] = set()
    for taken in _sums_of_others(request, group, resource_class) if rows else ():
        found = (
            column.smallest_allowed(index.size, requested + 1, taken)
            if larger
            else column.largest_allowed(index.size, requested - 1, taken)
        )
        amounts.update(np.unique(found[mask]).tolist())
        search.budget.check()
    return sorted(amounts - {0}, reverse=not larger)


def _anchors_without(
    search: RepeatedSearch, index: Index, request: CandidatesRequest, group: Group, resource_class: str
) -> RowSet:
    """Return the anchors at which each group alone could be served if nothing of the class were asked for."""
    looser = (
        apply(request, without_class(group, resource_class))
        if len(group.resources) > 1
        else apply(request, without_group(group))
    )
    anchors = allowed_roots(search.world, index, request)
    if isinstance(anchors, Refusal):
        return NONE
    roots, slots_by_group = anchors, dict[object, list[Slot]]()
    for each in looser.groups:
        if each.suffix == group.suffix and not each.one_provider:
            # The traits may be on the provider of the class that was left out.
            each = Group(each.suffix, each.resources, each.conditions._replace(required=()))
        part = plan_group(search.world, index, each, roots, slots_by_group)
        search.budget.check()
        if not isinstance(part, Plan):
            return NONE
        anchors &= part.anchors
    return anchors


def _rows_for(
    search: RepeatedSearch, index: Index, group: Group, resource_class: str, rows: RowSet
) -> RowSet:
    """Return the rows that meet the other conditions of the group, as far as they concern a single provider."""
    wanted = group.conditions
    steps: list[Step] = [filters.HasInventory(resource_class), filters.LacksTraits(wanted.forbidden)]
    if wanted.in_tree is not None:
        tree = rows_of_tree(search.world, index, wanted.in_tree)
        steps.append(filters.InTree(wanted.in_tree, tree))
    if group.one_provider or index.flat:
        steps += map(filters.HasTrait, wanted.required)
        steps += [filters.MemberOf(wanted.member_of), filters.NotMemberOf(wanted.not_member_of)]
        others = [item for item in group.resources.items() if item[0] != resource_class]
        steps += starmap(filters.Admits, others)
    return apply_filters(index, rows, steps)


def _sums_of_others(request: CandidatesRequest, group: Group, resource_class: str) -> list[int]:
    """Return the amounts of the class that other groups may take from the same provider, 0 first."""
    sums = {0: None}
    for other in request.groups:
        if other.suffix != group.suffix and resource_class in other.resources:
            for taken in list(sums):
                if len(sums) < _MAX_SUMS:
                    sums[taken + other.resources[resource_class]] = None
    return list(sums)
