# SPDX-License-Identifier: Apache-2.0

"""What there is at one moment: providers, consumers and names. A change makes the next world and shares the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_INT = 0x7FFFFFFF


class Inventory(NamedTuple):
    total: int
    reserved: int = 0
    min_unit: int = 1
    max_unit: int = MAX_INT
    step_size: int = 1
    allocation_ratio: float = 1.0

    @property
    def line(self) -> int:
        """How much of it may be used at most."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def allows(self, amount: int) -> bool:
        """Whether a single allocation may have this size."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0


class Provider(NamedTuple):
    """`used` is kept beside the single allocations; `promises` compares the two."""

    name: str
    parent: str | None
    generation: int = 0
    inventories: tuple[tuple[str, Inventory], ...] = ()
    used: tuple[tuple[str, int], ...] = ()
    traits: frozenset[str] = frozenset()
    aggregates: frozenset[str] = frozenset()

    def has(self, resource_class: str) -> bool:
        return any(name == resource_class for name, _ in self.inventories)

    def inventory(self, resource_class: str) -> Inventory | None:
        return next((each for name, each in self.inventories if name == resource_class), None)

    def used_of(self, resource_class: str) -> int:
        return next((amount for name, amount in self.used if name == resource_class), 0)

    def with_inventories(self, inventories: Mapping[str, Inventory]) -> Provider:
        return self._replace(inventories=tuple(sorted(inventories.items())))

    def with_use(self, change: Mapping[str, int]) -> Provider:
        used = dict(self.used)
        for resource_class, amount in change.items():
            used[resource_class] = used.get(resource_class, 0) + amount
        return self._replace(used=tuple(sorted((name, amount) for name, amount in used.items() if amount)))

    def stepped(self) -> Provider:
        return self._replace(generation=self.generation + 1)


class Allocation(NamedTuple):
    provider: str
    resource_class: str
    amount: int


class Consumer(NamedTuple):
    generation: int
    project: str
    user: str
    type: str | None
    holds: frozenset[Allocation] = frozenset()


class World:
    """Worlds are equal if all in them is. `mark` is a number that equal worlds share, kept up change by change."""

    __slots__ = ("classes", "consumers", "mark", "providers", "traits")

    def __init__(
        self,
        providers: dict[str, Provider],
        consumers: dict[str, Consumer],
        classes: frozenset[str],
        traits: frozenset[str],
        mark: int = 0,
    ) -> None:
        self.providers = providers
        self.consumers = consumers
        self.classes = classes
        """The custom ones. Standard ones are always there."""
        self.traits = traits
        """The custom ones."""
        self.mark = mark

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, World)
            and self.mark == other.mark
            and self.providers == other.providers
            and self.consumers == other.consumers
            and self.classes == other.classes
            and self.traits == other.traits
        )

    def __hash__(self) -> int:
        return self.mark

    def knows_class(self, name: str) -> bool:
        return not name.startswith("CUSTOM_") or name in self.classes

    def knows_trait(self, name: str) -> bool:
        return not name.startswith("CUSTOM_") or name in self.traits

    def root(self, uuid: str) -> str:
        while (parent := self.providers[uuid].parent) is not None:
            uuid = parent
        return uuid


EMPTY = World({}, {}, frozenset(), frozenset())


class Draft:
    """A world in the making. What is not changed is read from the world that it started from."""

    def __init__(self, world: World) -> None:
        self.before = world
        self.providers: dict[str, Provider | None] = {}
        self.consumers: dict[str, Consumer | None] = {}
        self.classes = world.classes
        self.traits = world.traits

    def provider(self, uuid: str) -> Provider | None:
        return self.providers[uuid] if uuid in self.providers else self.before.providers.get(uuid)

    def consumer(self, uuid: str) -> Consumer | None:
        return self.consumers[uuid] if uuid in self.consumers else self.before.consumers.get(uuid)

    def finished(self) -> World:
        before = self.before
        providers, provider_mark = _changed(before.providers, self.providers)
        consumers, consumer_mark = _changed(before.consumers, self.consumers)
        mark = before.mark ^ provider_mark ^ consumer_mark
        if self.classes != before.classes:
            mark ^= hash(("classes", before.classes)) ^ hash(("classes", self.classes))
        if self.traits != before.traits:
            mark ^= hash(("traits", before.traits)) ^ hash(("traits", self.traits))
        return World(providers, consumers, self.classes, self.traits, mark)


def _changed(before: dict[str, V], changes: Mapping[str, V | None]) -> tuple[dict[str, V], int]:
    """The things after these changes, and what they do to the mark."""
    if not changes:
        return before, 0
    after, mark = dict(before), 0
    for uuid, value in changes.items():
        old = before.get(uuid)
        if old == value:
            continue
        if old is not None:
            mark ^= hash((uuid, old))
        if value is None:
            del after[uuid]
        else:
            mark ^= hash((uuid, value))
            after[uuid] = value
    return after, mark
