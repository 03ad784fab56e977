# SPDX-License-Identifier: Apache-2.0

"""What a service has recorded, in a form that two services can share.

Rows are named by uuid and name, never by internal id, and times are left out; so two states are equal
exactly when clients cannot tell them apart.
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
    """Everything that writes can change."""

    providers: dict[str, Provider]
    inventories: dict[tuple[str, str], Inventory]  # (provider, class)
    traits: frozenset[tuple[str, str]]  # (provider, trait)
    aggregates: frozenset[tuple[str, str]]  # (provider, aggregate)
    consumers: dict[str, Consumer]
    allocations: dict[tuple[str, str, str], int]  # (consumer, provider, class)
    custom_classes: frozenset[str]
    custom_traits: frozenset[str]
    ratios: dict[tuple[str, str], float] = field(default_factory=dict)  # as SQL reckons with them
    projects: frozenset[str] = frozenset()  # also without consumers: they decide how later ones are spelled
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
    """Each row that the two do not share, in words; none when they are equal."""
    return [line for field in fields(State) for line in _of_table(field.name, reference, ours)]


def _of_table(table: str, reference: State, ours: State) -> Iterator[str]:
    there, here = getattr(reference, table), getattr(ours, table)
    if there == here:
        return
    if isinstance(there, frozenset):
        yield from (f"{table}: only in the reference: {row}" for row in sorted(there - here))
        yield from (f"{table}: only here: {row}" for row in sorted(here - there))
        return
    for key in sorted(there.keys() | here.keys(), key=str):
        if there.get(key) != here.get(key):
            yield f"{table}: {key}: reference {there.get(key)}, here {here.get(key)}"
