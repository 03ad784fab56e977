# SPDX-License-Identifier: Apache-2.0

"""A moment: the world and the search's index of it, after the change at this head.

A published snapshot never changes, so that a search needs no lock and holds up no write. Whoever searches first
pays for the index, not whoever writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from plimsoll.domain.effects import Effect
from plimsoll.domain.provider import Provider
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.ledger.response_cache import ResponseCache
from plimsoll.runtime.scheduling import Pace
from plimsoll.search.index.index import (
    Change,
    Claim,
    Index,
    is_claim,
)
from plimsoll.storage.head import Head

MOST_TOUCHED = 64
"""So many providers the index may be behind."""
MOST_PASSED = 64
"""So many heads are remembered that a snapshot has come by."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """A reading of the whole database: what was learnt before it may be wrong."""

    has_unrecorded: bool = False
    """Whether there were allocations without the record of a consumer. None are made any more."""


class Snapshot:
    __slots__ = ("_indexed", "_passed", "answers", "head", "origin", "world")

    def __init__(
        self, head: Head, world: World, origin: Origin, indexed: _Indexed, passed: tuple[Head, ...] = ()
    ) -> None:
        self.head = head
        self.world = world
        self.origin = origin
        """What it goes back to."""
        self.answers = ResponseCache()
        self._indexed = indexed
        self._passed = passed
        """The heads before its own, the last one last."""

    @classmethod
    def of(cls, head: Head, world: World, origin: Origin) -> Snapshot:
        return cls(head, world, origin, _Indexed(world, Index.build(world.providers.values())))

    @property
    def index(self) -> Index:
        indexed = self._indexed
        if indexed.touched:
            # Two threads may both do this; they get the same.
            indexed = self._indexed = indexed.at(self.world)
        return indexed.index

    def after(self, head: Head, effects: Iterable[Effect]) -> Snapshot:
        """The snapshot after these effects."""
        world, touched = self.world, set[str]()
        pause = Pace()
        for effect in effects:
            touched.update(effect.providers(world))
            world = effect.apply(world)
            pause()
        return self.advanced(head, world, touched)

    def advanced(self, head: Head, world: World, touched: set[str]) -> Snapshot:
        """The snapshot of a later world, in which only these providers differ."""
        assert head.seq >= self.head.seq
        passed = (*self._passed[-MOST_PASSED:], self.head)
        return Snapshot(head, world, self.origin, self._indexed.touching(touched, world), passed)

    def has_come_by(self, head: Head, since: Head) -> bool:
        """Whether it contains all that was committed up to this head, which was found when memory was at `since`.

        One from before that is no head of ours any more, though we were there once: the database has been set back.
        """
        for passed in chain((self.head,), reversed(self._passed)):
            if passed == head:
                return True
            if passed == since:
                return False
        return False


@unhashable_value
class _Indexed:
    """An index, the world that it is of, and which providers have been touched since."""

    world: World
    index: Index
    touched: frozenset[str] = frozenset()

    def touching(self, more: set[str], world: World) -> _Indexed:
        touched = self.touched | more
        later = _Indexed(self.world, self.index, touched)
        # Whoever asks for it must not find too much to do.
        return later.at(world) if len(touched) > MOST_TOUCHED else later

    def at(self, world: World) -> _Indexed:
        before, after = self.world.providers, world.providers
        claims, others = _told_apart(
            zip(map(before.get, self.touched), map(after.get, self.touched), strict=True)
        )
        # New ones in the order of ids, as they would have come one by one: a search visits providers in the index's
        # order, and each process has to give the same answer. What is gone goes first: an id or a uuid may be back.
        others.sort(key=_new_ones_by_id)
        index = self.index.updated(others) if others else self.index
        return _Indexed(world, index.claimed(claims) if claims else index)


def _told_apart(pairs: Iterable[Change]) -> tuple[list[Claim], list[Change]]:
    """What became of some providers: nearly always a claim."""
    claims: list[Claim] = []
    others: list[Change] = []
    for before, after in pairs:
        if before is not None and after is not None and is_claim(before, after):
            claims.append((before, after))
        elif before is not after:
            others.append((before, after))
    made_again = {after.uuid for before, after in others if before and after and before.id != after.id}
    if made_again:
        return [], [change for pair in (*others, *claims) for change in _changes(*pair, made_again)]
    return claims, others


def _changes(before: Provider | None, after: Provider | None, made_again: set[str]) -> list[Change]:
    """What became of one provider. Those made again were removed, and others have their uuids."""
    # What stands below one that is made again was moved away from it and back: it cannot be told by the uuid.
    if before and after and made_again & {after.uuid, after.root, after.parent}:
        return [(before, None), (None, after)]
    return [(before, after)]


def _new_ones_by_id(change: Change) -> int:
    before, after = change
    return -1 if before is not None or after is None else after.id
