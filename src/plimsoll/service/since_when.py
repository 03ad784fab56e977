# SPDX-License-Identifier: Apache-2.0

"""Since when a request has no candidates: find the newest change after which there were none.

The changes since then are undone one after the other. A search for each state would take too long, so the states are
searched by halves. For a run of claims and releases, which change only usage, there is one state with the least usage that each
provider had in the run. If the request has no candidates there, it has none in any state of the run: less usage never
takes candidates away. If it has some, both halves of the run are searched, the newer one first. Every other change is a
run of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from plimsoll.domain import effects as e
from plimsoll.domain.effects import Effect
from plimsoll.domain.usage import Sums
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.ledger.history import UndoneChange, undone_changes
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.find import find_candidates
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import Candidates
from plimsoll.service.placement import Placement
from plimsoll.storage.changes import Change
from plimsoll.storage.epoch import revision_of
from plimsoll.storage.head import Head

SINCE_WHEN_SECONDS = 2.0
"""Processor time for undoing changes and searching: the explanation does not depend on it."""
MAX_RUN = 256
"""Changes in a run, at most: their states are in memory."""

_OF_USAGE = (
    e.AllocationsReplaced,
    e.ConsumerAdded,
    e.ConsumerChanged,
    e.ConsumerRemoved,
    e.ConsumerTypeAdded,
    e.GenerationRaised,
    e.ProviderRenamed,
)
"""Effects on which a search depends through the usage of providers, or not at all."""


@unhashable_value
class SinceWhen:
    """Since when there are no candidates."""

    change: Change | None
    """The oldest change after which there were none, up to now; None if the log has no change at all."""
    revision: str | None = None
    """The lowest revision of which it is known that there were none: right after the change, or right before it."""
    effects: Sequence[Effect] = field(default_factory=tuple)
    world: World | None = None
    """The world before that change."""
    is_exact: bool = False
    """True if there were candidates before the change. False: there were none then either, and earlier states are unknown."""
    is_cut_short: bool = False
    """True if the time ended before the log did."""


def since_when(
    placement: Placement,
    request: CandidatesRequest,
    pause: Callable[[], None],
    is_client_gone: Callable[[], bool],
) -> SinceWhen:
    """Return since when a request that has no candidates in the snapshot has none. Raises SearchCancelled.

    A state in which the request names a trait or class that does not exist counts as one without candidates.
    """
    budget = Budget(SINCE_WHEN_SECONDS, clock=time.thread_time, pause=pause, is_cancelled=is_client_gone)
    walk = _Walk(placement, replace(request, limit=1), budget)
    try:
        found = walk.newest_with_candidates()
    except BudgetExceeded:
        return walk.result(None, is_cut_short=True)
    return walk.result(found)


class _Walk:
    """The states before a snapshot, the newest first."""

    def __init__(self, placement: Placement, request: CandidatesRequest, budget: Budget) -> None:
        self._placement = placement
        self._request = request
        self._budget = budget
        self._base: Snapshot = placement.snapshot()
        """A state without candidates, from which the next ones are computed."""
        self._last: UndoneChange | None = None
        """The oldest change before which there were no candidates either."""

    def result(self, found: UndoneChange | None, *, is_cut_short: bool = False) -> SinceWhen:
        shown = found or self._last
        if shown is None:
            return SinceWhen(None, is_cut_short=is_cut_short)
        seq = shown.change.seq if found is not None else shown.change.seq - 1
        return SinceWhen(
            shown.change,
            revision_of(self._base.origin.epoch, seq),
            shown.effects,
            shown.world,
            is_exact=found is not None,
            is_cut_short=is_cut_short,
        )

    def newest_with_candidates(self) -> UndoneChange | None:
        """Return the newest change before which there were candidates; None if the log has none."""
        run: list[UndoneChange] = []
        # The past has its own head: the log is compared with that of this process.
        newest, start = self._placement.ledger.newest, self._base
        changes = undone_changes(
            self._placement.ledger.database, newest.head, start.world, start.head.seq, self._budget.check
        )
        for each in changes:
            if run and (len(run) == MAX_RUN or not (_is_of_usage(each) and _is_of_usage(run[-1]))):
                found = self._search(run)
                if found is not None:
                    return found
                run = []
            run.append(each)
        return self._search(run) if run else None

    def _search(self, run: Sequence[UndoneChange]) -> UndoneChange | None:
        """Return the newest change of the run before which there were candidates, if any."""
        touched = {uuid for each in run for effect in each.effects for uuid in effect.providers(each.world)}
        found = self._newest(run, touched)
        if found is None:
            self._base = self._snapshot(run, run[-1].world, touched)
            self._last = run[-1]
        return found

    def _newest(self, part: Sequence[UndoneChange], touched: set[str]) -> UndoneChange | None:
        """Return the same for a part of the run. `touched` has the providers of the whole run."""
        if not self._has_candidates(self._snapshot(part, _with_least_usage(part, touched), touched)):
            return None
        if len(part) == 1:
            return part[0]
        half = len(part) // 2
        return self._newest(part[:half], touched) or self._newest(part[half:], touched)

    def _snapshot(self, part: Sequence[UndoneChange], world: World, touched: set[str]) -> Snapshot:
        """Return the snapshot of a world that differs from the base in these providers."""
        return self._base.rolled_back(Head(part[-1].change.seq - 1, 0), world, touched, in_id_order=False)

    def _has_candidates(self, snapshot: Snapshot) -> bool:
        self._budget.check()
        found = find_candidates(
            snapshot.world,
            snapshot.index,
            self._request,
            Order(),
            self._budget,
            fast_paths=self._placement.settings.fast_paths,
        )
        return isinstance(found, Candidates) and len(found.requests) > 0


def _is_of_usage(undone: UndoneChange) -> bool:
    return all(isinstance(effect, _OF_USAGE) for effect in undone.effects)


def _with_least_usage(part: Sequence[UndoneChange], touched: set[str]) -> World:
    """Return the oldest of these worlds, in which each provider has the least usage that it has in any of them."""
    world = part[-1].world
    if len(part) == 1:
        return world
    providers = world.providers
    for uuid in touched:
        used = [each.world.providers[uuid].used for each in part if uuid in each.world.providers]
        if used and any(each is not used[-1] for each in used):
            providers = providers.insert(uuid, replace(providers[uuid], used=_least(used)))
    return replace(world, providers=providers)


def _least(sums: Sequence[Sums]) -> Sums:
    """Return the least amount of each class, without zeros."""
    least = {name: min(each.get(name, 0) for each in sums) for name in sums[0]}
    return {name: amount for name, amount in least.items() if amount}
