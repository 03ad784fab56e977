# SPDX-License-Identifier: Apache-2.0

"""A snapshot: the world right after the change at a head, and the index for searches in it.

A published snapshot never changes, so that a search needs no lock and blocks no write. The index is brought up to date
by the first search, not by the write.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from plimsoll.domain.provider import Provider
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.search.index.index import Index, ProviderChange, UsageChange, changes_usage_only
from plimsoll.storage.epoch import UNKNOWN_EPOCH, revision_of
from plimsoll.storage.head import Head

MAX_TOUCHED = 64
"""Providers that have changed since the index was built, at most. Beyond that, the write updates the index."""
MAX_PAST_HEADS = 64
"""Earlier heads that a snapshot stores, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The full load that a snapshot is based on. Data cached before a newer full load may be wrong."""

    has_allocations_without_consumer: bool = False
    """True if there were allocations without a row of their consumer. No longer made."""
    epoch: str = UNKNOWN_EPOCH
    """The history of the database. A restore from a backup is followed by a full load."""


class Snapshot:
    """An immutable state of the whole cloud at one head."""

    __slots__ = ("_lazy_index", "_past_heads", "head", "origin", "responses", "world")

    def __init__(
        self,
        head: Head,
        world: World,
        origin: Origin,
        lazy_index: _LazyIndex,
        responses: ResponseCache,
        past_heads: tuple[Head, ...] = (),
    ) -> None:
        self.head = head
        self.world = world
        self.origin = origin
        self.responses = responses
        self._lazy_index = lazy_index
        self._past_heads = past_heads
        """The heads of the snapshots before this one, the newest last."""

    @classmethod
    def of(cls, head: Head, world: World, origin: Origin, responses: ResponseCache) -> Snapshot:
        return cls(head, world, origin, _LazyIndex(world, Index.build(world.providers.values())), responses)

    @property
    def revision(self) -> str:
        """The text that identifies this state for clients: `EPOCH:NUMBER`, with the number of the last change."""
        return revision_of(self.origin.epoch, self.head.seq)

    @property
    def index(self) -> Index:
        """The index of this world. The first use applies the changes since it was built."""
        lazy_index = self._lazy_index
        if lazy_index.touched:
            # Two threads may both do this, with the same result.
            lazy_index = self._lazy_index = lazy_index.at(self.world)
        return lazy_index.index

    def advanced(self, heads: Sequence[Head], world: World, touched: set[str]) -> Snapshot:
        """Return the snapshot of a later world, in which only these providers differ.

        `heads` are the heads that the database has had since this snapshot, the head of the later world last.
        """
        *passed, head = heads
        assert head.seq > self.head.seq
        lazy_index = self._lazy_index.with_touched(touched, world)
        past_heads = (*self._past_heads, self.head, *passed)[-MAX_PAST_HEADS:]
        return Snapshot(head, world, self.origin, lazy_index, self.responses.empty(), past_heads)

    def rolled_back(
        self, head: Head, world: World, touched: set[str], *, in_id_order: bool = True
    ) -> Snapshot:
        """Return the snapshot of an earlier world, in which only these providers differ.

        With `in_id_order`, the rows of the index are in the order of ids, as in the snapshot that was published then.
        """
        assert head.seq < self.head.seq
        lazy_index = self._lazy_index.rolled_back(touched, world, in_id_order)
        return Snapshot(head, world, self.origin, lazy_index, self.responses.empty())

    def contains(self, head: Head, since: Head) -> bool:
        """True if this snapshot contains all commits up to `head`, which was read when memory was at `since` or later.

        A head from before `since` means that the database was restored to an earlier state: the result is False,
        although this snapshot is based on that head.
        """
        for past in chain((self.head,), reversed(self._past_heads)):
            if past == head:
                return True
            if past == since:
                return False
        return False


@unhashable_value
class _LazyIndex:
    """An index, the world that it was built from, and the providers that have changed since."""

    world: World
    index: Index
    touched: frozenset[str] = frozenset()

    def with_touched(self, more: set[str], world: World) -> _LazyIndex:
        touched = self.touched | more
        later = _LazyIndex(self.world, self.index, touched)
        # The next search must not have to apply too many changes.
        return later.at(world) if len(touched) > MAX_TOUCHED else later

    def rolled_back(self, more: set[str], world: World, in_id_order: bool) -> _LazyIndex:
        touched = self.touched | more
        if in_id_order and any(self._is_new(world.providers.get(uuid)) for uuid in touched):
            return _LazyIndex(world, Index.build(world.providers.values()))
        return _LazyIndex(self.world, self.index, touched).at(world)

    def _is_new(self, provider: Provider | None) -> bool:
        """True for a provider that the index does not have: it would get the last row."""
        if provider is None:
            return False
        before = self.world.providers.get(provider.uuid)
        return before is None or before.id != provider.id

    def at(self, world: World) -> _LazyIndex:
        before, after = self.world.providers, world.providers
        claims, others = _partition(
            zip(map(before.get, self.touched), map(after.get, self.touched), strict=True)
        )
        # New providers are inserted in the order of ids, as if one by one: a search visits providers in the order of
        # the index, and each process must return the same result. Removals go first: an id or uuid may be reused.
        others.sort(key=_insertion_order)
        index = self.index.updated(others) if others else self.index
        index = index.claimed(claims) if claims else index
        assert index.live.bit_count() == len(after), "the index has other providers than the world"
        return _LazyIndex(world, index)


def _partition(pairs: Iterable[ProviderChange]) -> tuple[list[UsageChange], list[ProviderChange]]:
    """Separate claims, which are nearly all changes, from other changes. Unchanged providers are left out."""
    claims: list[UsageChange] = []
    others: list[ProviderChange] = []
    for before, after in pairs:
        if before is not None and after is not None and changes_usage_only(before, after):
            claims.append((before, after))
        elif before is not after:
            others.append((before, after))
    recreated = {after.uuid for before, after in others if before and after and before.id != after.id}
    if recreated:
        return [], [change for pair in (*others, *claims) for change in _changes(*pair, recreated)]
    return claims, others


def _changes(before: Provider | None, after: Provider | None, recreated: set[str]) -> list[ProviderChange]:
    """Return the changes of one provider. A recreated one (same uuid, new id) is removed and added."""
    # Its children are too: they were moved away and back, which their uuids of root and parent do not show.
    if before and after and recreated & {after.uuid, after.root, after.parent}:
        return [(before, None), (None, after)]
    return [(before, after)]


def _insertion_order(change: ProviderChange) -> int:
    """Sort key: removals and updates first, then new providers by id."""
    before, after = change
    return -1 if before is not None or after is None else after.id
