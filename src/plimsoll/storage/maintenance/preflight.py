# SPDX-License-Identifier: Apache-2.0

"""Read-only checks of a database before Plimsoll takes it over.

The dialects check the server when they connect; `integrity` checks the consistency of the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, select, text

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.storage import tables as t
from plimsoll.storage.dialects.mysql import is_galera
from plimsoll.storage.schema import migrate, upgrades
from plimsoll.storage.schema.upgrades import UpgradeStep

# A worker process of `plimsoll serve`, memory that it shares with no other process, measured with psutil's USS on
# CPython 3.11: 72 MB without providers; 111 MB at 10,000 providers of 3 inventories each, all in use, and 122 MB
# at 10,000 of 6; 174 MB at 30,000 of 3; 410 MB at 100,000 of 3. It does not grow with consumers or allocations.
_BYTES_PER_WORKER = 75_000_000
_BYTES_PER_PROVIDER = 2_400
_BYTES_PER_INVENTORY = 400
# Listing all 100,000 providers took 826 MB; during a full reload the old and the new world are both in memory.
_PEAK_FACTOR = 2.2


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Product and version of the database server."""

    name: str
    version: str
    is_galera: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}{', a node of a Galera cluster' if self.is_galera else ''}"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Revisions of the tables, and what `migrate.sync` would do: the steps, or the error that it would raise."""

    revision: str | None
    own_revision: str | None
    is_empty: bool
    obstacle: str | None
    steps: tuple[UpgradeStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """Numbers of rows that determine memory and load time."""

    providers: int
    inventories: int
    consumers: int
    allocations: int

    @property
    def worker_bytes(self) -> int:
        """Estimated memory of a worker in normal operation."""
        return _BYTES_PER_WORKER + self._cloud_bytes

    @property
    def worker_bytes_peak(self) -> int:
        """Estimated memory of a worker during a full reload, or while it lists all providers."""
        return _BYTES_PER_WORKER + int(_PEAK_FACTOR * self._cloud_bytes)

    @property
    def _cloud_bytes(self) -> int:
        return self.providers * _BYTES_PER_PROVIDER + self.inventories * _BYTES_PER_INVENTORY


def server(connection: Connection) -> ServerFacts:
    version = ".".join(map(str, connection.dialect.server_version_info or ()))
    match connection.dialect.name:
        case "postgresql":
            return ServerFacts("PostgreSQL", version)
        case "mysql" | "mariadb":
            version_text = str(connection.scalar(text("SELECT VERSION()")))
            name = "MariaDB" if "mariadb" in version_text.lower() else "MySQL"
            return ServerFacts(name, version_text.partition("-")[0], is_galera=is_galera(connection))
        case _:
            return ServerFacts("SQLite", version)


def schema(connection: Connection) -> SchemaState:
    """Apply the checks of `migrate.sync`, which changes nothing if they find an obstacle."""
    steps: tuple[UpgradeStep, ...] = ()
    try:
        state = migrate.inspect_schema(connection)
        is_empty = migrate.is_empty(connection, state)
        if not is_empty:
            steps = migrate.upgrade_steps(connection, state)
    except migrate.SchemaError as error:
        return SchemaState(None, None, is_empty=False, obstacle=str(error))
    return SchemaState(state.revision, migrate.own_revision(connection), is_empty, obstacle=None, steps=steps)


def size(connection: Connection) -> Size:
    counted = (t.resource_providers, t.inventories, t.consumers, t.allocations)
    return Size(*(connection.scalar(select(func.count()).select_from(table)) or 0 for table in counted))


def non_transactional_tables(connection: Connection) -> list[str]:
    """Return the tables whose storage engine has no transactions: an old MySQL created them."""
    if connection.dialect.name not in ("mysql", "mariadb"):
        return []
    query = text(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
        " AND table_type = 'BASE TABLE' AND engine <> 'InnoDB' ORDER BY table_name"
    )
    return [name for name in connection.scalars(query) if name in t.reference.tables]


def mixed_collations(connection: Connection) -> dict[str, list[str]]:
    """Return the columns by collation if there are several. Plimsoll compares all texts by that of the providers."""
    if connection.dialect.name not in ("mysql", "mariadb"):
        return {}
    query = text(
        "SELECT table_name, column_name, collation_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND collation_name IS NOT NULL ORDER BY table_name, ordinal_position"
    )
    by_collation: dict[str, list[str]] = {}
    for table, column, collation in connection.execute(query):
        if table in t.reference.tables:
            by_collation.setdefault(collation, []).append(f"{table}.{column}")
    return by_collation if len(by_collation) > 1 else {}


def unnamed_providers(connection: Connection) -> list[str]:
    """Return the uuids of providers without a name. The API never creates them, but the schema allows them."""
    p = t.resource_providers.c
    return list(connection.scalars(select(p.uuid).where(p.name.is_(None)).order_by(p.id)))


def colliding_names(connection: Connection, semantics: DatabaseSemantics) -> list[str]:
    """Return names that the database stores as different rows, but that `semantics` compares as equal."""
    name_columns: tuple[tuple[Table, str], ...] = (
        (t.resource_providers, "name"),
        (t.resource_classes, "name"),
        (t.traits, "name"),
        *([(t.consumer_types, "name")] if upgrades.has_consumer_types(connection) else []),
        (t.projects, "external_id"),
        (t.users, "external_id"),
    )
    return [
        name for table, column in name_columns for name in _colliding(connection, table, column, semantics)
    ]


def _colliding(
    connection: Connection, table: Table, column: str, semantics: DatabaseSemantics
) -> Iterator[str]:
    query = select(table.c[column]).where(table.c[column].is_not(None)).order_by(table.c.id)
    names = connection.scalars(query).all()
    keys = Counter(map(semantics.key, names))
    return (f"{name!r} in {table.name}" for name in names if keys[semantics.key(name)] > 1)
