# SPDX-License-Identifier: Apache-2.0

"""The cloud as of an earlier change: the newest snapshot, with the later changes of the log undone."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from sqlalchemy import Connection

from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.effects import Effect
from plimsoll.domain.reversal import NotReversible, undo
from plimsoll.domain.values import unhashable_value, value
from plimsoll.domain.world import World
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.head import Head

LINES_PER_READ = 200
"""Lines of the change log that are in memory at a time. A line has at most 256 kB, and 500 bytes on average."""
LOCK_SECONDS = 30.0
"""How long a request waits while another one undoes changes."""
PROVIDER_BYTES = 6_000
"""Memory of a provider in a snapshot that shares nothing with others, with its rows in the index, at most."""
MAX_CACHED = 64
"""Snapshots in the cache, at most."""


@value
class HistoryLimits:
    """How far back the cloud is computed, and the memory for it; see the options of these names."""

    max_changes: int = 100_000
    cache_bytes: int = 128 << 20


DEFAULT_LIMITS = HistoryLimits()


@value
class HistoryTooShort:
    """The requested change is earlier than the state can be computed for."""

    lowest: int
    """The earliest change as of which it can be."""


@value
class HistoryUnfinished:
    """The time was not enough to undo all changes. The next request continues from here."""

    reached: int


@unhashable_value
class UndoneChange:
    """A change, and the world before it."""

    change: Change
    effects: Sequence[Effect]
    world: World


def undone_changes(
    database: Database, newest: Head, world: World, seq: int, pause: Callable[[], object]
) -> Iterator[UndoneChange]:
    """Undo the changes up to number `seq`, the newest first. `world` is the one right after that change.

    Ends where the log ends, at a change that cannot be undone, or if the history was replaced by a restore. `newest` is the
    head of a snapshot of this process: as long as the log has it, it is the log of the same history. Calls `pause` after
    each effect.
    """
    while seq > 0 and (lines := _lines(database, newest, seq)):
        for change in lines:
            if change.seq != seq:
                return  # the lines before were pruned
            effects = decode(change.effects)
            try:
                for effect in reversed(effects):
                    world = undo(effect, world)
                    pause()
            except NotReversible:
                return
            yield UndoneChange(change, effects, world)
            seq -= 1


def _lines(database: Database, newest: Head, seq: int) -> list[Change]:
    """Return the changes up to this number, the newest first; none if the log is of another history."""

    def read(conn: Connection) -> list[Change]:
        if changes.mark_of(conn, newest.seq) != newest.mark:
            return []
        return [each.change for each in changes.logged_before(conn, seq + 1, LINES_PER_READ)]

    return database.run_read(read)


class PastSnapshots:
    """Computes snapshots as of earlier changes, one at a time, and caches them."""

    def __init__(self, database: Database, limits: HistoryLimits = DEFAULT_LIMITS) -> None:
        self._database = database
        self._max_changes = limits.max_changes
        self._lock = threading.Lock()
        self._cache: BoundedCache[int, Snapshot] = BoundedCache(
            MAX_CACHED, limits.cache_bytes, size_of=memory_of
        )

    def lowest(self, newest: Snapshot) -> int:
        """Return the earliest change as of which the cloud can be computed, as far as the ends of the log show."""
        first = self._database.run_read(changes.oldest, single_query=True)
        reached = newest.head.seq if first is None else min(first - 1, newest.head.seq)
        return max(reached, newest.head.seq - self._max_changes)

    def at(
        self, newest: Snapshot, seq: int, budget: Budget
    ) -> Snapshot | HistoryTooShort | HistoryUnfinished:
        """Return the snapshot right after the change with this number. Raises SearchCancelled.

        Takes time in proportion to the number of changes since then, or since the next later snapshot in the cache.
        """
        assert 0 <= seq <= newest.head.seq
        if seq == newest.head.seq:
            return newest
        cached = self._cache.get(seq)
        if cached is not None and cached.origin is newest.origin:
            return cached
        if seq < (lowest := self.lowest(newest)):
            return HistoryTooShort(lowest)
        with self.one_at_a_time():
            return self._computed(newest, seq, budget)

    @contextlib.contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        """Wait until no other request undoes changes: the next one continues from the result. Raises Busy."""
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            raise Busy(f"Other requests have been undoing changes for {LOCK_SECONDS:.0f} s.")
        try:
            yield
        finally:
            self._lock.release()

    @property
    def cached_bytes(self) -> int:
        """Memory of the snapshots in the cache, at most."""
        return self._cache.size

    def _computed(
        self, newest: Snapshot, seq: int, budget: Budget
    ) -> Snapshot | HistoryTooShort | HistoryUnfinished:
        start = self._nearest(newest, seq)
        reached, world, touched = start.head.seq, start.world, set[str]()
        if reached == seq:
            return start
        undone = undone_changes(self._database, newest.head, world, reached, budget.pause_if_due)
        is_in_time = True
        for each in undone:
            reached, world = each.change.seq - 1, each.world
            for effect in each.effects:
                touched.update(effect.providers(world))
            if reached == seq:
                break
            try:
                budget.check()
            except BudgetExceeded:
                is_in_time = False
                break
        else:
            return HistoryTooShort(reached)
        snapshot = self._rolled_back(start, reached, world, touched)
        self._cache.put(reached, snapshot)
        return snapshot if is_in_time else HistoryUnfinished(reached)

    def _nearest(self, newest: Snapshot, seq: int) -> Snapshot:
        """Return the snapshot in memory from which the fewest changes have to be undone."""
        known = [each for each in self._cache.values() if each.origin is newest.origin]
        later = [each for each in known if seq <= each.head.seq <= newest.head.seq]
        return min(later, key=lambda each: each.head.seq, default=newest)

    def _rolled_back(self, start: Snapshot, seq: int, world: World, touched: set[str]) -> Snapshot:
        mark = self._database.run_read(lambda conn: changes.mark_of(conn, seq), single_query=True)
        build = partial(start.rolled_back, Head(seq, mark or 0), world, touched)
        return self._database.runtime.offload(build)


def memory_of(snapshot: Snapshot) -> int:
    """Return an upper bound: what a snapshot takes when all providers have changed since."""
    return PROVIDER_BYTES * (1 + len(snapshot.world.providers))
