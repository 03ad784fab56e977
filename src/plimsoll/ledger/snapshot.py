# SPDX-License-Identifier: Apache-2.0

"""A moment: the world and the search's index of it, after the change at this head.

A published snapshot never changes, so that a search needs no lock and holds up no write.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.domain.effects import Effect
from plimsoll.domain.world import World
from plimsoll.search.index import Change, Index
from plimsoll.storage.head import Head


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """A reading of the whole database: what was learnt before it may be wrong."""

    has_unrecorded: bool = False
    """Whether there were allocations without the record of a consumer. None are made any more."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    head: Head
    world: World
    index: Index
    origin: Origin
    """What it goes back to."""

    @classmethod
    def of(cls, head: Head, world: World, origin: Origin) -> Snapshot:
        return cls(head, world, Index.build(world.providers.values()), origin)

    def after(self, head: Head, effects: Iterable[Effect]) -> Snapshot:
        """The snapshot after these effects."""
        world, touched = self.world, set[str]()
        for effect in effects:
            touched.update(effect.providers(world))
            world = effect.apply(world)
        return self.advanced(head, world, touched)

    def advanced(self, head: Head, world: World, touched: Iterable[str]) -> Snapshot:
        """The snapshot of a later world, in which only these providers differ."""
        assert head.seq >= self.head.seq
        changes = [change for uuid in touched for change in self._changes(uuid, world)]
        # In the order of ids, as they would have come one by one: a search visits providers in the index's order,
        # and each process has to give the same answer.
        changes.sort(key=_id)
        return Snapshot(head, world, self.index.updated(changes) if changes else self.index, self.origin)

    def _changes(self, uuid: str, world: World) -> list[Change]:
        before, after = self.world.provider(uuid), world.provider(uuid)
        if before is after:
            return []
        if before is not None and after is not None and before.id != after.id:
            return [(before, None), (None, after)]  # removed, and made again under the same uuid
        return [(before, after)]


def _id(change: Change) -> int:
    before, after = change
    provider = after or before
    assert provider is not None
    return provider.id
