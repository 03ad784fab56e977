# SPDX-License-Identifier: Apache-2.0

"""Reads what a service has recorded from its database with plain SQL, whichever database that is.

The two services are read with the same statements, so what they record is compared as the database gives it.
"""

from typing import Any

from sqlalchemy import Connection, NullPool, create_engine, make_url, text

from tests.differential.state import EMPTY, Consumer, Inventory, Provider, State

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
# A column of single precision shows fewer digits than it has; to multiply brings them out.
RATIOS = """
SELECT rp.uuid, rc.name, allocation_ratio * 1.0 FROM inventories AS inv
JOIN resource_providers AS rp ON rp.id = inv.resource_provider_id
JOIN resource_classes AS rc ON rc.id = inv.resource_class_id
"""
CUSTOM = "SELECT name FROM {} WHERE name LIKE 'CUSTOM#_%' ESCAPE '#'"

# How a transaction begins whose queries all see one state, and what is different after every commit. (A server
# says that for all its databases together: then there is a needless look at times, but none is missed.)
BEGINNINGS = {
    "sqlite": "BEGIN",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "mysql": "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
}
MARKS = {
    "sqlite": "PRAGMA data_version",
    "postgresql": "SELECT CAST(pg_current_snapshot() AS text)",
    "mysql": "SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'",
}


class Recorded:
    """The records of one service. Knows cheaply when they have not changed."""

    def __init__(self, url: str) -> None:
        self._connection = connection(url)
        self._engine = make_url(url).get_backend_name()
        self._mark: Any = None
        self._state = EMPTY

    def read(self) -> State:
        mark = self._connection.execute(text(MARKS[self._engine])).one()
        if mark != self._mark:
            self._state = self._load()
            self._mark = mark
        return self._state

    def close(self) -> None:
        self._connection.close()

    def _load(self) -> State:
        def rows(query: str) -> list[Any]:
            return list(self._connection.execute(text(query)))

        self._connection.execute(text(BEGINNINGS[self._engine]))
        try:
            return State(
                {row[0]: Provider(*row[1:]) for row in rows(PROVIDERS)},
                {(row[0], row[1]): Inventory(*row[2:]) for row in rows(INVENTORIES)},
                frozenset((row[0], row[1]) for row in rows(TRAITS)),
                frozenset((row[0], row[1]) for row in rows(AGGREGATES)),
                {row[0]: Consumer(*row[1:]) for row in rows(CONSUMERS)},
                {(row[0], row[1], row[2]): int(row[3]) for row in rows(ALLOCATIONS)},
                frozenset(row[0] for row in rows(CUSTOM.format("resource_classes"))),
                frozenset(row[0] for row in rows(CUSTOM.format("traits"))),
                {(row[0], row[1]): float(row[2]) for row in rows(RATIOS)},
                frozenset(row[0] for row in rows("SELECT external_id FROM projects")),
                frozenset(row[0] for row in rows("SELECT external_id FROM users")),
            )
        finally:
            self._connection.execute(text("COMMIT"))


def connection(url: str) -> Connection:
    """A connection that commits each statement, unless it is told to begin."""
    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "mysql":
        address = address.update_query_dict({"charset": "utf8mb4"})
    engine = create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    return engine.connect()


def execute(url: str, statement: str, **parameters: Any) -> None:
    """Change the records behind the service's back."""
    with connection(url) as connected:
        connected.execute(text(statement), parameters)


def forget_owner(url: str, table: str, name: str) -> None:
    """Remove a project or a user (to undo a known fault)."""
    assert table in ("projects", "users"), table
    execute(url, f"DELETE FROM {table} WHERE external_id = :name", name=name)


def associate(url: str, provider: str, aggregate: str) -> None:
    """Add a provider to an aggregate that is recorded already (to undo a known fault)."""
    execute(
        url,
        "INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id)"
        " SELECT rp.id, agg.id FROM resource_providers AS rp, placement_aggregates AS agg"
        " WHERE rp.uuid = :provider AND agg.uuid = :aggregate",
        provider=provider,
        aggregate=aggregate,
    )


def forget_consumer(url: str, uuid: str) -> None:
    """Remove a consumer that has no allocations (to undo a known fault)."""
    execute(
        url,
        "DELETE FROM consumers WHERE uuid = :uuid AND uuid NOT IN (SELECT consumer_id FROM allocations)",
        uuid=uuid,
    )
