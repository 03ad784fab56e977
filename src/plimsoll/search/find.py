# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates: every way to serve a request, up to a limit, and whom the answer has to describe."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plimsoll.domain.world import World
from plimsoll.search.budget import Budget
from plimsoll.search.combine.assemble import added_up, giving, parts_of
from plimsoll.search.combine.order import choices
from plimsoll.search.index.bitset import Numbers, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.plan import NameMissing, Plan, plan_group, plan_request, roots_wanted
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import (
    NO_CANDIDATES,
    Candidates,
    Combined,
    UniformCandidates,
)
from plimsoll.search.slots import Slot

MAX_ENTRIES = 400_000
"""Providers named in all candidates of one answer, each time counted: their text takes about 45 MB."""


def find_candidates(
    world: World, index: Index, request: CandidatesRequest, order: Order, budget: Budget | None = None
) -> Candidates | NameMissing:
    """Search `index`, which must be of this world. Raises BudgetExceeded if nothing was found in time."""
    budget = budget or Budget()
    found = _plan(world, index, request, budget)
    if found is None:
        return NO_CANDIDATES
    if isinstance(found, NameMissing):
        return found
    limit, most = _bounds(request, order, len(found.slots))
    if index.flat:
        return _at_single_providers(index, found, order, most if limit is None else limit)
    return _at_trees(index, found, order, limit, most, budget)


def _plan(
    world: World, index: Index, request: CandidatesRequest, budget: Budget
) -> Plan | NameMissing | None:
    """Group by group: one that nobody could serve ends the search before the names of the next are looked up.

    So do roots that nobody is. A cloud without providers does not: the names are looked up there too.
    """
    roots = roots_wanted(world, index, request)
    if isinstance(roots, NameMissing):
        return roots
    if not roots and (request.root_required or request.root_forbidden):
        return None
    known: dict[object, list[Slot]] = {}
    parts: list[Plan] = []
    for group in request.groups:
        part = plan_group(world, index, group, roots, known)
        budget.check()
        if isinstance(part, NameMissing):
            return part if all(_can_be_served(index, earlier, budget) for earlier in parts) else None
        if part is None:
            return None
        parts.append(part)
    return plan_request(index, request, parts, budget)


def _can_be_served(index: Index, part: Plan, budget: Budget) -> bool:
    """Whether a group alone has a candidate anywhere: the plan knows of each tree only that it may have."""
    return not part.together or len(choices(index, part, Order(), 1, 1, budget)) > 0


def _bounds(request: CandidatesRequest, order: Order, slots: int) -> tuple[int | None, int]:
    """The limit of this request, None for all candidates, and their greatest number in that case."""
    most = max(1, MAX_ENTRIES // slots)
    limits = [limit for limit in (request.limit, order.most) if limit is not None]
    if limits:
        return min(*limits, most), most
    return None, most if order.most_without_limit is None else min(most, order.most_without_limit)


def _at_single_providers(index: Index, found: Plan, order: Order, limit: int) -> Candidates:
    """Where every provider stands alone, each that is left serves all slots itself."""
    rows = numbers_of(found.anchors, index.size)
    if order.shuffle_seed is not None:
        rows = np.random.default_rng(order.shuffle_seed).permutation(rows)
    rows = rows[:limit]
    amounts = added_up(found.slots)

    def parts(chosen: slice) -> list[UniformCandidates]:
        each = Selection(index, rows[chosen])
        served = tuple([(slot.suffix, (each,)) for slot in found.slots])
        return [UniformCandidates(np.arange(len(each)), ((amounts, each),), served)]

    return Candidates(
        requests=Combined(len(rows), len(found.slots), parts),
        providers=Selection(index, rows if order.shuffle_seed is None else np.sort(rows)),
    )


def _at_trees(
    index: Index, found: Plan, order: Order, limit: int | None, most: int, budget: Budget
) -> Candidates:
    chosen = choices(index, found, order, limit, most, budget)
    givers = _distinct(chosen[:, giving(found.slots)], index.size)
    described = (
        givers
        if found.one_of_tree
        else index.trees.members(_distinct(index.root_by_row()[givers], index.size))
    )

    def parts(these: slice) -> Iterator[UniformCandidates]:
        return parts_of(index, found.slots, chosen[these])

    return Candidates(
        requests=Combined(len(chosen), len(found.slots), parts),
        providers=Selection(index, described),
        is_complete=not budget.is_exceeded,
    )


def _distinct(rows: Numbers, size: int) -> Numbers:
    """Each row once, ascending."""
    there = np.zeros(size, np.bool_)
    there[rows] = True
    return np.flatnonzero(there)
