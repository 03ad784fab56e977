# SPDX-License-Identifier: Apache-2.0

"""The final rows in SQL, and their comparison with a state of the model.

The statements are separate plain SQL, so that a fault in the service's own statements is not hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, create_engine, make_url, text

from tests.audit.model import State
from tests.audit.model.state import Inventory

Rows = Mapping[str, Counter[tuple[Any, ...]]]
"""For each table its rows with their count, which should be 1."""

STATEMENTS = {
    "providers": """
        SELECT one.uuid, one.name, one.generation, parent.uuid, root.uuid FROM resource_providers one
        LEFT JOIN resource_providers parent ON parent.id = one.parent_provider_id
        LEFT JOIN resource_providers root ON root.id = one.root_provider_id
    """,
    "inventories": """
        SELECT p.uuid, c.name, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size, i.allocation_ratio
        FROM inventories i LEFT JOIN resource_providers p ON p.id = i.resource_provider_id
        LEFT JOIN resource_classes c ON c.id = i.resource_class_id
    """,
    "traits": """
        SELECT p.uuid, t.name FROM resource_provider_traits has
        LEFT JOIN resource_providers p ON p.id = has.resource_provider_id LEFT JOIN traits t ON t.id = has.trait_id
    """,
    "aggregates": """
        SELECT p.uuid, a.uuid FROM resource_provider_aggregates has
        LEFT JOIN resource_providers p ON p.id = has.resource_provider_id
        LEFT JOIN placement_aggregates a ON a.id = has.aggregate_id
    """,
    "consumers": """
        SELECT c.uuid, c.generation, p.external_id, u.external_id, t.name FROM consumers c
        LEFT JOIN projects p ON p.id = c.project_id LEFT JOIN users u ON u.id = c.user_id
        LEFT JOIN consumer_types t ON t.id = c.consumer_type_id
    """,
    "allocations": """
        SELECT a.consumer_id, p.uuid, c.name, a.used FROM allocations a
        LEFT JOIN resource_providers p ON p.id = a.resource_provider_id
        LEFT JOIN resource_classes c ON c.id = a.resource_class_id
    """,
    "custom classes": "SELECT name FROM resource_classes WHERE name LIKE 'CUSTOM%'",
    "custom traits": "SELECT name FROM traits WHERE name LIKE 'CUSTOM%'",
}


def read(url: str, *before: str) -> Rows:
    """Execute the statements `before`, then read all rows."""
    parsed = make_url(url)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    engine = create_engine(parsed)
    try:
        with engine.connect() as connection:
            for statement in before:
                connection.execute(text(statement))
            return {table: _rows(connection, statement) for table, statement in STATEMENTS.items()}
    finally:
        engine.dispose()


def _rows(connection: Connection, statement: str) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in connection.execute(text(statement)))


def expected(state: State) -> Rows:
    providers = state.providers.items()
    return {
        "providers": Counter(
            (uuid, each.name, each.generation, each.parent, state.root(uuid)) for uuid, each in providers
        ),
        "inventories": Counter(
            (uuid, name, *_inventory_columns(inventory))
            for uuid, each in providers
            for name, inventory in each.inventories
        ),
        "traits": Counter((uuid, name) for uuid, each in providers for name in each.traits),
        "aggregates": Counter((uuid, name) for uuid, each in providers for name in each.aggregates),
        "consumers": Counter(
            (uuid, each.generation, each.project, each.user, each.type)
            for uuid, each in state.consumers.items()
        ),
        "allocations": Counter(
            (uuid, *allocation) for uuid, each in state.consumers.items() for allocation in each.holds
        ),
        "custom classes": Counter((name,) for name in state.classes),
        "custom traits": Counter((name,) for name in state.traits),
    }


def differences(state: State, found: Rows) -> Iterator[str]:
    for table, rows in expected(state).items():
        if rows != found[table]:
            yield from (f"{table}: missing in SQL: {row}" for row in sorted((rows - found[table]), key=repr))
            yield from (f"{table}: only in SQL: {row}" for row in sorted((found[table] - rows), key=repr))


def _inventory_columns(inventory: Inventory) -> tuple[Any, ...]:
    return tuple(inventory)
