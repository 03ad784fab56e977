# SPDX-License-Identifier: Apache-2.0

"""Plan moves: which consumers of a host to move, and where to, so that the host serves a request.

A plan is returned only if searches have confirmed it: without the moved consumers the host serves the request, and with
the request on the host each moved consumer fits on another host, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from plimsoll.domain.provider import DISABLED_TRAIT
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.search import copies
from plimsoll.search.budget import BudgetExceeded
from plimsoll.search.copies import Amounts
from plimsoll.search.free_by_host import best_by_host
from plimsoll.search.index.bitset import Numbers, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.make_room.fewest import enough_of, fewer_than, smaller_ones
from plimsoll.search.repeated_search import MAX_COUNTED, RepeatedSearch, host_by_candidate, hosts_of
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.result import Candidate

MAX_NEARBY = 400
"""Providers of a host's tree and of the trees that share with it, at most."""
MAX_COMPARED = 64
"""Consumers of a host that are compared with each other, at most. With more, fewer consumers may be enough."""
MAX_SEARCHES_PER_HOST = 400
_MAX_CANDIDATES = 100


@unhashable_value
class HeldAmounts:
    """The amounts that one consumer holds, by provider."""

    consumer: str
    amounts: Amounts


@unhashable_value
class Move:
    """A consumer that is moved, and what it would hold on other hosts."""

    held: HeldAmounts
    to: Amounts


@unhashable_value
class MovePlan:
    """A host that serves the request after some consumers were moved."""

    host: str
    """The uuid of its root."""
    moves: tuple[Move, ...]
    is_fewest: bool
    """Whether it is certain that no fewer consumers are enough."""
    candidate: Candidate
    """How the host serves the request then."""


def hosts_to_clear(search: RepeatedSearch, index: Index, request: CandidatesRequest) -> Numbers:
    """Return the roots of the hosts that would serve the request if nothing were in use, the nearest to it first."""
    empty = copies.emptied(index)
    found = search.find(empty, request, None if index.flat else MAX_COUNTED)
    if found is None:
        return np.zeros(0, np.int64)
    hosts = hosts_of(empty, found)
    missing = np.zeros(len(hosts))
    for name, amount in _largest_amounts(request).items():
        free = index.class_column(name).free_by_row(index.size)
        best = best_by_host(index, name, free, search.budget)[hosts]
        missing += np.maximum(amount - best, 0) / amount
    ordered: Numbers = hosts[np.argsort(missing, kind="stable")]
    return ordered


def plan_moves(
    search: RepeatedSearch,
    index: Index,
    request: CandidatesRequest,
    host: str,
    consumers: Sequence[HeldAmounts],
) -> MovePlan | None:
    """Return which consumers of the host to move, or None if that does not help or was not found.

    `consumers` are all consumers with allocations on the host, and what each holds in the whole cloud. Raises
    BudgetExceeded.
    """
    nearby = _nearby(search.world, index, host)
    if nearby is None:
        return None
    ordered = sorted(consumers, key=lambda held: _share(held, nearby, request), reverse=True)
    try:
        choices = _choices(search, nearby, request, host, ordered)
    except BudgetExceeded:
        search.budget.check()  # the time is used up, not the number of searches for this host
        return None
    for chosen, is_fewest in choices:
        if plan := _checked(search, index, request, host, chosen, is_fewest):
            return plan
    return None


def _choices(
    search: RepeatedSearch,
    nearby: World,
    request: CandidatesRequest,
    host: str,
    consumers: Sequence[HeldAmounts],
) -> list[tuple[list[HeldAmounts], bool]]:
    """Return choices of consumers to move, the best first: as few as possible, then small ones."""
    index = Index.build(nearby.providers.values())
    here = RepeatedSearch(nearby, search.budget, MAX_SEARCHES_PER_HOST, search.fast_paths)
    root, known = index.row(host), dict[tuple[int, ...], bool]()

    def is_enough(numbers: tuple[int, ...]) -> bool:
        if numbers not in known:
            copy = copies.without(index, _together([consumers[number] for number in numbers]))
            found = here.find(copy, request, _MAX_CANDIDATES)
            known[numbers] = found is not None and root in hosts_of(copy, found)
        return known[numbers]

    size = len(consumers)
    chosen = enough_of(size, is_enough)
    if not chosen:
        return []
    is_fewest, small = len(chosen) == 1, chosen
    try:
        if not is_fewest and size <= MAX_COMPARED:
            larger = _at_least_as_large(consumers, nearby)
            chosen, is_fewest = fewer_than(chosen, size, larger, is_enough, search.budget.spend)
        small = smaller_ones(chosen, size, is_enough)
    except BudgetExceeded:
        search.budget.check()
    numbers = dict.fromkeys([small, chosen])
    return [([consumers[number] for number in each], is_fewest) for each in numbers]


def _checked(
    search: RepeatedSearch,
    index: Index,
    request: CandidatesRequest,
    host: str,
    chosen: Sequence[HeldAmounts],
    is_fewest: bool,
) -> MovePlan | None:
    """Return the plan if the host serves the request, and then each consumer fits elsewhere, one after the other."""
    copy = copies.without(index, _together(chosen))
    candidate = _candidate_at(search, copy, request, index.row(host))
    if candidate is None:
        return None
    copy = copies.claimed(copy, dict(candidate.allocations))
    copy = copies.with_nothing_free(copy, index.rows_of_trees(1 << index.row(host)))
    moves = []
    for held in chosen:
        found = search.find(copy, _request_for(search.world, held), 1)
        if found is None:
            return None
        to: Amounts = dict(next(iter(found.requests)).allocations)
        copy = copies.claimed(copy, to)
        moves.append(Move(held, to))
    return MovePlan(host, tuple(moves), is_fewest, candidate)


def _candidate_at(
    search: RepeatedSearch, index: Index, request: CandidatesRequest, root: int
) -> Candidate | None:
    """Return a candidate of the host with this root."""
    found = search.find(index, request, MAX_COUNTED)
    for part in found.requests.parts() if found else ():
        here = np.flatnonzero(host_by_candidate(index, part) == root)
        if len(here):
            return next(islice(part.candidates(), int(here[0]), None))
    return None


def _request_for(world: World, held: HeldAmounts) -> CandidatesRequest:
    """Return the request for what a consumer holds: one group per provider. Its traits are not known."""
    groups = [Group(f"_{number}", amounts) for number, amounts in enumerate(held.amounts.values())]
    forbidden = frozenset([DISABLED_TRAIT]) if DISABLED_TRAIT in world.traits else frozenset[str]()
    return CandidatesRequest(tuple(groups), group_policy="none", root_forbidden=forbidden)


def _nearby(world: World, index: Index, host: str) -> World | None:
    """Return a world of the host's tree and the trees that share with it, None if they are too large."""
    uuids = list(world.trees[host])
    reached = 0
    for provider in world.tree(host):
        for aggregate in provider.aggregates:
            reached |= index.in_aggregate(aggregate)
    sharing = numbers_of(reached & index.sharing, index.size).tolist()
    for root in dict.fromkeys(provider.root for provider in index.providers(sharing)):
        if root != host:
            uuids += world.trees[root]
        if len(uuids) > MAX_NEARBY:
            return None
    providers = [world.providers[uuid] for uuid in uuids]
    return World.of(providers, world.classes, world.traits, world.consumer_types, world.semantics)


def _largest_amounts(request: CandidatesRequest) -> dict[str, int]:
    amounts: dict[str, int] = {}
    for group in request.groups:
        for name, amount in group.resources.items():
            amounts[name] = max(amount, amounts.get(name, 0))
    return amounts


def _share(held: HeldAmounts, nearby: World, request: CandidatesRequest) -> float:
    """Return how much a consumer holds of what is requested."""
    wanted = _largest_amounts(request)
    return sum(
        amount / wanted[name]
        for uuid, amounts in held.amounts.items()
        if uuid in nearby.providers
        for name, amount in amounts.items()
        if name in wanted
    )


def _at_least_as_large(consumers: Sequence[HeldAmounts], nearby: World) -> list[frozenset[int]]:
    """Return, for each consumer, the others that hold at least as much in every respect; equal ones: those before."""
    held = [
        {
            (uuid, name): amount
            for uuid, amounts in each.amounts.items()
            if uuid in nearby.providers
            for name, amount in amounts.items()
        }
        for each in consumers
    ]
    return [
        frozenset(
            number
            for number, other in enumerate(held)
            if number != place
            and all(other.get(key, 0) >= amount for key, amount in own.items())
            and (number < place or other != own)
        )
        for place, own in enumerate(held)
    ]


def _together(consumers: Iterable[HeldAmounts]) -> dict[str, dict[str, int]]:
    """Return the sum of what these consumers hold."""
    total: dict[str, dict[str, int]] = {}
    for held in consumers:
        for uuid, amounts in held.amounts.items():
            sums = total.setdefault(uuid, {})
            for name, amount in amounts.items():
                sums[name] = sums.get(name, 0) + amount
    return total
