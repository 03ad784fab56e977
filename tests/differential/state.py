# SPDX-License-Identifier: Apache-2.0

"""The state of a service in a form that can be compared between services.

Rows are identified by uuid and name, not by internal id, and times are left out: two states are equal exactly when
clients cannot distinguish them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import NamedTuple


class Provider(NamedTuple):
    name: str | None
    generation: int
    parent: str | None
    root: str


class Inventory(NamedTuple):
    total: int
    reserved: int
    min_unit: int
    max_unit: int
    step_size: int
    allocation_ratio: float

    @property
    def capacity(self) -> int:
        return int((self.total - self.reserved) * self.allocation_ratio)


class Consumer(NamedTuple):
    generation: int
    project: str | None
    user: str | None
    type: str | None


@dataclass(frozen=True, slots=True)
class State:
    """All data that writes can change."""

    providers: dict[str, Provider]
    inventories: dict[tuple[str, str], Inventory]  # (provider, class)
    traits: frozenset[tuple[str, str]]  # (provider, trait)
    aggregates: frozenset[tuple[str, str]]  # (provider, aggregate)
    consumers: dict[str, Consumer]
    allocations: dict[tuple[str, str, str], int]  # (consumer, provider, class)
    custom_classes: frozenset[str]
    custom_traits: frozenset[str]
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)  # as SQL calculates with them
    projects: frozenset[str] = (
        frozenset()
    )  # also without consumers: they determine the spelling of later ones
    users: frozenset[str] = frozenset()

    def used(self, provider: str, resource_class: str) -> int:
        return sum(
            amount
            for (_, held_by, held_class), amount in self.allocations.items()
            if (held_by, held_class) == (provider, resource_class)
        )

    def sharing(self) -> frozenset[str]:
        return frozenset(uuid for uuid, trait in self.traits if trait == "MISC_SHARES_VIA_AGGREGATE")

    def tree(self, root: str) -> list[str]:
        return [uuid for uuid, provider in self.providers.items() if provider.root == root]


EMPTY = State({}, {}, frozenset(), frozenset(), {}, {}, frozenset(), frozenset())


def differences(reference: State, ours: State) -> list[str]:
    """Return one line for each row that differs."""
    return [line for field in fields(State) for line in _of_table(field.name, reference, ours)]


def _of_table(table: str, reference: State, ours: State) -> Iterator[str]:
    expected, actual = getattr(reference, table), getattr(ours, table)
    if expected == actual:
        return
    if isinstance(expected, frozenset):
        yield from (f"{table}: only in the reference: {row}" for row in sorted(expected - actual))
        yield from (f"{table}: only here: {row}" for row in sorted(actual - expected))
        return
    for key in sorted(expected.keys() | actual.keys(), key=str):
        if expected.get(key) != actual.get(key):
            yield f"{table}: {key}: reference {expected.get(key)}, here {actual.get(key)}"
