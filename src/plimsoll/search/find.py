# SPDX-License-Identifier: Apache-2.0

"""Find allocation candidates for a request, up to a limit, and the providers for the provider summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from plimsoll.domain.world import World
from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.search.budget import Budget
from plimsoll.search.combine.assemble import slots_with_resources, sum_resources, uniform_parts
from plimsoll.search.combine.exists import anchors_with_choice
from plimsoll.search.combine.order import find_choices
from plimsoll.search.index.bitset import NONE, Numbers, RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import Selection
from plimsoll.search.plan import NameMissing, Plan, allowed_roots, plan_group, plan_request
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import NO_CANDIDATES, CandidateList, Candidates, UniformCandidates
from plimsoll.search.slots import Slot
from plimsoll.search.trace import Trace

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
    trace: Trace | None = None,
    stage_ended: Callable[[str], None] = lambda stage: None,
) -> Candidates | NameMissing:
    """Return the candidates in `index`, the index of `world`. Raises BudgetExceeded if none was found in time.

    With a limit, `fast_paths` may change which candidates are found and their order, without one only the order. The
    steps report to `trace`, which does not change the result. `stage_ended` is called with the name of each stage at its
    end.
    """
    budget = budget or Budget()
    found = _plan(world, index, request, budget, trace)
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
    world: World, index: Index, request: CandidatesRequest, budget: Budget, trace: Trace | None = None
) -> Plan | NameMissing | None:
    """Plan group by group; a group without providers ends the search before the names of the next are looked up.

    So do root conditions that no root meets. Without any providers, the names of the first group are still looked up.
    With a trace, the remaining groups are planned too, for their reports only.
    """
    roots = allowed_roots(world, index, request, trace)
    if isinstance(roots, NameMissing):
        return roots
    has_ended = not roots and bool(request.root_required or request.root_forbidden)
    slots_by_group: dict[object, list[Slot]] = {}
    parts: list[Plan] = []
    for group in request.groups:
        if has_ended and trace is None:
            return None
        part = plan_group(world, index, group, roots, slots_by_group, trace)
        budget.check()
        if has_ended:
            continue
        if isinstance(part, NameMissing):
            if all(_can_be_served(index, earlier, budget) for earlier in parts):
                return part
            has_ended = True
        elif part is None:
            has_ended = True
        else:
            parts.append(part)
    return None if has_ended else plan_request(index, request, parts, budget, trace)


def has_candidates(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> bool:
    """Return whether a search finds a candidate. Unknown names are like names that no provider has."""
    return bool(hosts_with_candidates(world, index, request, budget))


def hosts_with_candidates(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> RowSet:
    """Return the roots of the trees that have a candidate, without enumerating the candidates."""
    plan = _plan(world, index, request, budget)
    return anchors_with_choice(index, plan, budget) if isinstance(plan, Plan) else NONE


def trace_plan(world: World, index: Index, request: CandidatesRequest, budget: Budget) -> Trace:
    """Return the trace of a search that is not carried out: providers are filtered, not combined."""
    trace = Trace()
    _plan(world, index, request, budget, trace)
    return trace


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
