# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates: every way to serve a request, up to a limit, and whom the answer has to describe."""

from __future__ import annotations

import numpy as np

from plimsoll.domain.world import World
from plimsoll.search.answer import NO_CANDIDATES, Alike, Candidates, Combined
from plimsoll.search.index import Index
from plimsoll.search.picked import Picked
from plimsoll.search.plan import NameMissing, Plan, plan_group, plan_request, roots_wanted
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.rows import Numbers, numbers_of
from plimsoll.search.slots import Slot
from plimsoll.search.visit import choices
from plimsoll.search.write import added_up, combined, giving


def find_candidates(
    world: World, index: Index, request: CandidatesRequest, order: Order
) -> Candidates | NameMissing:
    """Searches `index`, which must be of this world."""
    found = _plan(world, index, request)
    if found is None:
        return NO_CANDIDATES
    if isinstance(found, NameMissing):
        return found
    limit = _limit(request, order)
    if index.flat:
        return _at_single_providers(index, found, order, limit)
    return _at_trees(index, found, order, limit)


def _plan(world: World, index: Index, request: CandidatesRequest) -> Plan | NameMissing | None:
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
        if isinstance(part, NameMissing):
            return part if all(_can_be_served(index, earlier) for earlier in parts) else None
        if part is None:
            return None
        parts.append(part)
    return plan_request(index, request, parts)


def _can_be_served(index: Index, part: Plan) -> bool:
    """Whether a group alone has a candidate anywhere: the plan knows of each tree only that it may have."""
    return not part.together or len(choices(index, part, Order(), limit=1)) > 0


def _limit(request: CandidatesRequest, order: Order) -> int | None:
    limits = [limit for limit in (request.limit, order.most) if limit is not None]
    return min(limits) if limits else None


def _at_single_providers(index: Index, found: Plan, order: Order, limit: int | None) -> Candidates:
    """Where every provider stands alone, each that is left serves all slots itself."""
    rows = numbers_of(found.anchors, index.size)
    if order.shuffle_seed is not None:
        rows = np.random.default_rng(order.shuffle_seed).permutation(rows)
    rows = rows[:limit]
    each = Picked(index, rows)
    served = tuple([(slot.suffix, (each,)) for slot in found.slots])
    alike = Alike(np.arange(len(rows)), ((added_up(found.slots), each),), served)
    return Candidates(
        requests=Combined(len(rows), (alike,)),
        providers=each if order.shuffle_seed is None else Picked(index, np.sort(rows)),
    )


def _at_trees(index: Index, found: Plan, order: Order, limit: int | None) -> Candidates:
    chosen = choices(index, found, order, limit)
    givers = _distinct(chosen[:, giving(found.slots)], index.size)
    described = (
        givers
        if found.one_of_tree
        else index.trees.members(_distinct(index.root_by_row()[givers], index.size))
    )
    return Candidates(requests=combined(index, found.slots, chosen), providers=Picked(index, described))


def _distinct(rows: Numbers, size: int) -> Numbers:
    """Each row once, ascending."""
    there = np.zeros(size, np.bool_)
    there[rows] = True
    return np.flatnonzero(there)
