# SPDX-License-Identifier: Apache-2.0

"""Immutable state of the model: providers, consumers, classes and traits. A change shares unchanged parts."""

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
    def capacity(self) -> int:
        """The maximum total usage."""
        return int((self.total - self.reserved) * self.allocation_ratio)

    def allows(self, amount: int) -> bool:
        """True if a single allocation may have this size."""
        return self.min_unit <= amount <= self.max_unit and amount % self.step_size == 0


class Provider(NamedTuple):
    """`used` is the sum of the single allocations; `invariants` compares the two."""

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

    def with_next_generation(self) -> Provider:
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


class State:
    """States compare by content. `state_hash` is equal for equal states and is updated with each change."""

    __slots__ = ("classes", "consumers", "providers", "state_hash", "traits")

    def __init__(
        self,
        providers: dict[str, Provider],
        consumers: dict[str, Consumer],
        classes: frozenset[str],
        traits: frozenset[str],
        state_hash: int = 0,
    ) -> None:
        self.providers = providers
        self.consumers = consumers
        self.classes = classes
        """Custom classes only. Standard classes always exist."""
        self.traits = traits
        """Custom traits only."""
        self.state_hash = state_hash

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.state_hash == other.state_hash
            and self.providers == other.providers
            and self.consumers == other.consumers
            and self.classes == other.classes
            and self.traits == other.traits
        )

    def __hash__(self) -> int:
        return self.state_hash

    def has_class(self, name: str) -> bool:
        return not name.startswith("CUSTOM_") or name in self.classes

    def has_trait(self, name: str) -> bool:
        return not name.startswith("CUSTOM_") or name in self.traits

    def root(self, uuid: str) -> str:
        while (parent := self.providers[uuid].parent) is not None:
            uuid = parent
        return uuid


EMPTY = State({}, {}, frozenset(), frozenset())


class Draft:
    """Changes to a state. Unchanged objects are read from `before`."""

    def __init__(self, state: State) -> None:
        self.before = state
        self.providers: dict[str, Provider | None] = {}
        self.consumers: dict[str, Consumer | None] = {}
        self.classes = state.classes
        self.traits = state.traits

    def provider(self, uuid: str) -> Provider | None:
        return self.providers[uuid] if uuid in self.providers else self.before.providers.get(uuid)

    def consumer(self, uuid: str) -> Consumer | None:
        return self.consumers[uuid] if uuid in self.consumers else self.before.consumers.get(uuid)

    def finished(self) -> State:
        before = self.before
        providers, provider_hash = _changed(before.providers, self.providers)
        consumers, consumer_hash = _changed(before.consumers, self.consumers)
        state_hash = before.state_hash ^ provider_hash ^ consumer_hash
        if self.classes != before.classes:
            state_hash ^= hash(("classes", before.classes)) ^ hash(("classes", self.classes))
        if self.traits != before.traits:
            state_hash ^= hash(("traits", before.traits)) ^ hash(("traits", self.traits))
        return State(providers, consumers, self.classes, self.traits, state_hash)


def _changed(before: dict[str, V], changes: Mapping[str, V | None]) -> tuple[dict[str, V], int]:
    """Return the objects after these changes, and the XOR difference of the state hash."""
    if not changes:
        return before, 0
    after, state_hash = dict(before), 0
    for uuid, value in changes.items():
        old = before.get(uuid)
        if old == value:
            continue
        if old is not None:
            state_hash ^= hash((uuid, old))
        if value is None:
            del after[uuid]
        else:
            state_hash ^= hash((uuid, value))
            after[uuid] = value
    return after, state_hash
