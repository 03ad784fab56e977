# SPDX-License-Identifier: Apache-2.0

"""Read the state of a service from its database by plain SQL, on any engine.

Both services are read with the same statements, so the stored values are compared as the database returns them.
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
# A single-precision column is displayed with fewer digits than it stores; a multiplication returns all of them.
RATIOS = """
SELECT rp.uuid, rc.name, allocation_ratio * 1.0 FROM inventories AS inv
JOIN resource_providers AS rp ON rp.id = inv.resource_provider_id
JOIN resource_classes AS rc ON rc.id = inv.resource_class_id
"""
CUSTOM = "SELECT name FROM {} WHERE name LIKE 'CUSTOM#_%' ESCAPE '#'"

# Statements that begin a transaction with one snapshot, and queries whose result differs after every commit. (A server
# has one value for all its databases: some reloads are needless, but no commit is missed.)
BEGIN_STATEMENTS = {
    "sqlite": "BEGIN",
    "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "mysql": "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
}
VERSION_QUERIES = {
    "sqlite": "PRAGMA data_version",
    "postgresql": "SELECT CAST(pg_current_snapshot() AS text)",
    "mysql": "SHOW GLOBAL STATUS LIKE 'Innodb_lsn_current'",
}


class StateReader:
    """Reads the state of one service, and caches it while a cheap query shows no new commit."""

    def __init__(self, url: str) -> None:
        self._connection = connection(url)
        self._engine = make_url(url).get_backend_name()
        self._version: Any = None
        self._state = EMPTY

    def read(self) -> State:
        version = self._connection.execute(text(VERSION_QUERIES[self._engine])).one()
        if version != self._version:
            self._state = self._load()
            self._version = version
        return self._state

    def close(self) -> None:
        self._connection.close()

    def _load(self) -> State:
        def rows(query: str) -> list[Any]:
            return list(self._connection.execute(text(query)))

        self._connection.execute(text(BEGIN_STATEMENTS[self._engine]))
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
    """Return a connection in autocommit mode."""
    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    if address.get_backend_name() == "mysql":
        address = address.update_query_dict({"charset": "utf8mb4"})
    engine = create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    return engine.connect()


def execute(url: str, statement: str, **parameters: Any) -> None:
    """Change the database without the service."""
    with connection(url) as connected:
        connected.execute(text(statement), parameters)


def delete_owner(url: str, table: str, name: str) -> None:
    """Delete a project or a user, to undo a known fault."""
    assert table in ("projects", "users"), table
    execute(url, f"DELETE FROM {table} WHERE external_id = :name", name=name)


def restore_aggregate(url: str, provider: str, aggregate: str) -> None:
    """Add a provider to an existing aggregate, to undo a known fault."""
    execute(
        url,
        "INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id)"
        " SELECT rp.id, agg.id FROM resource_providers AS rp, placement_aggregates AS agg"
        " WHERE rp.uuid = :provider AND agg.uuid = :aggregate",
        provider=provider,
        aggregate=aggregate,
    )


def delete_consumer(url: str, uuid: str) -> None:
    """Delete a consumer without allocations, to undo a known fault."""
    execute(
        url,
        "DELETE FROM consumers WHERE uuid = :uuid AND uuid NOT IN (SELECT consumer_id FROM allocations)",
        uuid=uuid,
    )
