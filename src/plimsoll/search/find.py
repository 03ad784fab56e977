# SPDX-License-Identifier: Apache-2.0

"""Find allocation candidates for a request, up to a limit, and the providers for the provider summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.search.budget import Budget
from plimsoll.search.combine.assemble import slots_with_resources, sum_resources, uniform_parts
from plimsoll.search.combine.order import find_choices
from plimsoll.search.index.bitset import Numbers, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.plan import NameMissing, Plan, allowed_roots, plan_group, plan_request
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import NO_CANDIDATES, CandidateList, Candidates, UniformCandidates
from plimsoll.search.slots import Slot

MAX_ENTRIES = 400_000
"""Bound on provider entries in one response, over all candidates: about 45 MB of JSON."""


def find_candidates(
    world: World,
    index: Index,
    request: CandidatesRequest,
    order: Order,
    budget: Budget | None = None,
    *,
    fast_paths: FastPaths = ALL,
    stage_ended: Callable[[str], None] = lambda stage: None,
) -> Candidates | NameMissing:
    """Return the candidates in `index`, the index of `world`. Raises BudgetExceeded if none was found in time.

    With a limit, `fast_paths` may change which candidates are found and their order, without one only the order.
    `stage_ended` is called with the name of each stage at its end.
    """
    budget = budget or Budget()
    found = _plan(world, index, request, budget)
    stage_ended("plan")
    if found is None:
        return NO_CANDIDATES
    if isinstance(found, NameMissing):
        return found
    limit, max_candidates = _limits(request, order, len(found.slots))
    if index.flat:
        candidates = _flat_candidates(index, found, order, max_candidates if limit is None else limit)
    else:
        chosen = find_choices(index, found, order, limit, max_candidates, budget, fast_paths)
        candidates = _tree_candidates(index, found, chosen, is_complete=not budget.is_exceeded)
    stage_ended("combine")
    return candidates


def _plan(
    world: World, index: Index, request: CandidatesRequest, budget: Budget
) -> Plan | NameMissing | None:
    """Plan group by group; a group without providers ends the search before the names of the next are looked up.

    So do root conditions that no root meets. Without any providers, the names of the first group are still looked up.
    """
    roots = allowed_roots(world, index, request)
    if isinstance(roots, NameMissing):
        return roots
    if not roots and (request.root_required or request.root_forbidden):
        return None
    slots_by_group: dict[object, list[Slot]] = {}
    parts: list[Plan] = []
    for group in request.groups:
        part = plan_group(world, index, group, roots, slots_by_group)
        budget.check()
        if isinstance(part, NameMissing):
            return part if all(_can_be_served(index, earlier, budget) for earlier in parts) else None
        if part is None:
            return None
        parts.append(part)
    return plan_request(index, request, parts, budget)


def _can_be_served(index: Index, part: Plan, budget: Budget) -> bool:
    """Return whether the group alone has a candidate. Its plan has only trees that may have one."""
    return not part.required_traits or len(find_choices(index, part, Order(), 1, 1, budget)) > 0


def _limits(request: CandidatesRequest, order: Order, slots: int) -> tuple[int | None, int]:
    """Return the limit of this request (None: all candidates), and the bound that applies without a limit."""
    max_candidates = max(1, MAX_ENTRIES // slots)
    limits = [limit for limit in (request.limit, order.max_candidates) if limit is not None]
    if limits:
        return min(*limits, max_candidates), max_candidates
    return None, max_candidates if order.max_candidates_without_limit is None else min(
        max_candidates, order.max_candidates_without_limit
    )


def _flat_candidates(index: Index, found: Plan, order: Order, limit: int) -> Candidates:
    """Return the candidates of an index without trees and sharing: each anchor serves all slots itself."""
    rows = numbers_of(found.anchors, index.size)
    if order.shuffle_seed is not None:
        rows = np.random.default_rng(order.shuffle_seed).permutation(rows)
    rows = rows[:limit]
    amounts = sum_resources(found.slots)

    def parts(chosen: slice) -> list[UniformCandidates]:
        each = Selection(index, rows[chosen])
        served = tuple([(slot.suffix, (each,)) for slot in found.slots])
        return [UniformCandidates(np.arange(len(each)), ((amounts, each),), served)]

    return Candidates(
        requests=CandidateList(len(rows), len(found.slots), parts),
        providers=Selection(index, rows if order.shuffle_seed is None else np.sort(rows)),
    )


def _tree_candidates(index: Index, found: Plan, chosen: Numbers, is_complete: bool) -> Candidates:
    """Return the candidates of choices, which combine the providers of each tree."""
    allocated_rows = _distinct(chosen[:, slots_with_resources(found.slots)], index.size)
    summarised_rows = (
        allocated_rows
        if found.one_per_tree
        else index.trees.members(_distinct(index.root_by_row()[allocated_rows], index.size))
    )

    def parts(chosen_slice: slice) -> Iterator[UniformCandidates]:
        return uniform_parts(index, found.slots, chosen[chosen_slice])

    return Candidates(
        requests=CandidateList(len(chosen), len(found.slots), parts),
        providers=Selection(index, summarised_rows),
        is_complete=is_complete,
    )


def _distinct(rows: Numbers, size: int) -> Numbers:
    """Return the distinct rows, ascending."""
    present = np.zeros(size, np.bool_)
    present[rows] = True
    return np.flatnonzero(present)
