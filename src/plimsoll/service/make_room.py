# SPDX-License-Identifier: Apache-2.0

"""Find hosts that would serve a request if some consumers were moved. Their consumers are read from SQL."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from plimsoll.domain.consumer import Consumer, Holding
from plimsoll.domain.refusals import Refusal, SearchAbandoned
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.ledger import holdings
from plimsoll.search.budget import Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.make_room.move_plans import HeldAmounts, MovePlan, hosts_to_clear, plan_moves
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.placement import Placement

MAKE_ROOM_SECONDS = 0.3
"""Processor time for moves: the explanation does not depend on them."""
MAX_HOSTS_TRIED = 16
MAX_MOVE_PLANS = 5
"""Hosts in the result, at most."""
MAX_CONSUMERS = 300
"""Consumers of a host, at most: a host with more is left out."""
MAX_TREE = 500
"""Providers of a host, at most."""


@unhashable_value
class MovePlans:
    """The plans that were found, one per host."""

    found: tuple[MovePlan, ...] = ()
    """The plans with the fewest moves come first."""
    consumers: Mapping[str, Consumer] = field(default_factory=dict)
    """The records of the consumers to move, by uuid."""
    is_complete: bool = True
    """False if hosts were left out: too many hosts or consumers, or the time ended."""
    is_cut_short: bool = False
    """True if the time ended."""


def find_move_plans(
    placement: Placement,
    request: CandidatesRequest,
    pause: Callable[[], None],
    is_client_gone: Callable[[], bool],
) -> MovePlans | Refusal:
    """Return hosts that serve the request after the fewest moves, as far as they are found in time."""
    budget = Budget(MAKE_ROOM_SECONDS, clock=time.thread_time, pause=pause, is_cancelled=is_client_gone)
    try:
        return _find_move_plans(placement, request, budget)
    except SearchCancelled:
        return SearchAbandoned()


def _find_move_plans(placement: Placement, request: CandidatesRequest, budget: Budget) -> MovePlans:
    snapshot = placement.snapshot()
    search = RepeatedSearch(snapshot.world, budget, fast_paths=placement.settings.fast_paths)
    finder = _Finder(placement, search, request)
    try:
        finder.try_hosts(hosts_to_clear(search, snapshot.index, request).tolist())
    except BudgetExceeded:
        finder.is_cut_short = True
    found = sorted(finder.found, key=lambda plan: len(plan.moves))
    is_complete = finder.is_complete and not finder.is_cut_short
    return MovePlans(tuple(found), finder.consumers, is_complete, finder.is_cut_short)


class _Finder:
    """The hosts tried so far."""

    def __init__(self, placement: Placement, search: RepeatedSearch, request: CandidatesRequest) -> None:
        self._placement = placement
        self._search = search
        self._request = request
        self.found: list[MovePlan] = []
        self.consumers: dict[str, Consumer] = {}
        self.is_complete = True
        self.is_cut_short = False

    def try_hosts(self, rows: Sequence[int]) -> None:
        index = self._placement.snapshot().index
        for row in rows[:MAX_HOSTS_TRIED]:
            if len(self.found) == MAX_MOVE_PLANS:
                self.is_complete = False
                return
            self._try(index.provider(row).uuid)
        if len(rows) > MAX_HOSTS_TRIED:
            self.is_complete = False

    def _try(self, host: str) -> None:
        snapshot = self._placement.snapshot()
        held = self._consumers_of(snapshot.world, host)
        if held is None:
            self.is_complete = False
            return
        each_held = [HeldAmounts(consumer.uuid, amounts) for consumer, amounts in held]
        plan = plan_moves(self._search, snapshot.index, self._request, host, each_held)
        if plan is not None:
            self.found.append(plan)
            moved = {move.held.consumer for move in plan.moves}
            self.consumers |= {consumer.uuid: consumer for consumer, _ in held if consumer.uuid in moved}

    def _consumers_of(
        self, world: World, host: str
    ) -> list[tuple[Consumer, dict[str, dict[str, int]]]] | None:
        """Return the consumers on a host with what each holds; None if there are too many, or the snapshot is older."""
        uuids = world.trees[host]
        if len(uuids) > MAX_TREE:
            return None
        read = holdings.on_providers(self._placement.ledger, uuids, world.semantics)
        if read is None or len(read) > MAX_CONSUMERS or not _are_part_of_usage(world, uuids, read):
            return None
        return [(each.consumer, _amounts(each)) for each in read if each.consumer is not None]


def _amounts(holding: Holding) -> dict[str, dict[str, int]]:
    amounts: dict[str, dict[str, int]] = {}
    for provider, resource_class, amount in holding.allocations:
        amounts.setdefault(provider, {})[resource_class] = amount
    return amounts


def _are_part_of_usage(world: World, uuids: Sequence[str], read: Sequence[Holding]) -> bool:
    """Return whether the snapshot has the allocations that were read: SQL may be newer."""
    here, sums = frozenset(uuids), Counter[tuple[str, str]]()
    for holding in read:
        for provider, resource_class, amount in holding.allocations:
            if provider in here:
                sums[provider, resource_class] += amount
    return all(used <= world.providers[uuid].used_of(name) for (uuid, name), used in sums.items())
