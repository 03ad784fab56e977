# SPDX-License-Identifier: Apache-2.0

"""What a service has recorded, read from its SQLite file in a form that two services can share.

Rows are named by uuid and name, never by internal id, and times are left out; so two files are equal
exactly when their clients cannot tell them apart.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
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

PROVIDERS = """
SELECT rp.uuid, rp.name, rp.generation, parent.uuid, root.uuid FROM resource_providers AS rp
LEFT JOIN resource_providers AS parent ON parent.id = rp.parent_provider_id
LEFT JOIN resource_providers AS root ON root.id = rp.root_provider_id ORDER BY rp.uuid
"""
INVENTORIES = """
SELECT rp.uuid, rc.name, total, reserved, min_unit, max_unit, step_size, allocation_ratio FROM inventories AS inv
JOIN resource_providers AS rp ON rp.id = inv.resource_provider_id
JOIN resource_classes AS rc ON rc.id = inv.resource_class_id ORDER BY rp.uuid, rc.name
"""
TRAITS = """
SELECT rp.uuid, traits.name FROM resource_provider_traits AS has
JOIN resource_providers AS rp ON rp.id = has.resource_provider_id JOIN traits ON traits.id = has.trait_id
"""
AGGREGATES = """
SELECT rp.uuid, agg.uuid FROM resource_provider_aggregates AS has
JOIN resource_providers AS rp ON rp.id = has.resource_provider_id
JOIN placement_aggregates AS agg ON agg.id = has.aggregate_id
"""
CONSUMERS = """
SELECT c.uuid, c.generation, projects.external_id, users.external_id, consumer_types.name FROM consumers AS c
LEFT JOIN projects ON projects.id = c.project_id LEFT JOIN users ON users.id = c.user_id
LEFT JOIN consumer_types ON consumer_types.id = c.consumer_type_id ORDER BY c.uuid
"""
ALLOCATIONS = """
SELECT consumer_id, rp.uuid, rc.name, sum(used) FROM allocations AS a
LEFT JOIN resource_providers AS rp ON rp.id = a.resource_provider_id
LEFT JOIN resource_classes AS rc ON rc.id = a.resource_class_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
CUSTOM = "SELECT name FROM {} WHERE name LIKE 'CUSTOM\\_%' ESCAPE '\\'"


class Reader:
    """Reads the state of one file, and knows cheaply when it has not changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, timeout=30)
        self._version: int | None = None
        self._state = EMPTY

    def read(self) -> State:
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._state = self._load()
            self._version = version
        return self._state

    def close(self) -> None:
        self._connection.close()

    def _load(self) -> State:
        rows = self._connection.execute
        self._connection.execute("BEGIN")
        try:
            return State(
                {row[0]: Provider(*row[1:]) for row in rows(PROVIDERS)},
                {(row[0], row[1]): Inventory(*row[2:]) for row in rows(INVENTORIES)},
                frozenset((row[0], row[1]) for row in rows(TRAITS)),
                frozenset((row[0], row[1]) for row in rows(AGGREGATES)),
                {row[0]: Consumer(*row[1:]) for row in rows(CONSUMERS)},
                {(row[0], row[1], row[2]): row[3] for row in rows(ALLOCATIONS)},
                frozenset(row[0] for row in rows(CUSTOM.format("resource_classes"))),
                frozenset(row[0] for row in rows(CUSTOM.format("traits"))),
            )
        finally:
            self._connection.execute("COMMIT")


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


def forget_consumer(path: Path, uuid: str) -> None:
    """Remove a consumer that has no allocations from a file (to undo a known fault)."""
    with sqlite3.connect(path, timeout=30) as connection:
        connection.execute(
            "DELETE FROM consumers WHERE uuid = ? AND uuid NOT IN (SELECT consumer_id FROM allocations)",
            (uuid,),
        )
    connection.close()
