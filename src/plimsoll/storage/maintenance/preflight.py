# SPDX-License-Identifier: Apache-2.0

"""What an operator wants to know of a database before Plimsoll takes it over: facts, found by reading alone.

Whether its server can be used at all the dialects say, at the first contact; whether its rows agree with each
other, `checks` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, select, text

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.storage import tables as t
from plimsoll.storage.schema import migrate

# A worker process of `plimsoll serve`, memory that it shares with no other process, measured with psutil's USS on
# CPython 3.11: 72 MB with nothing to know; 111 MB at 10,000 providers of 3 inventories each, all in use, and 122 MB
# at 10,000 of 6; 174 MB at 30,000 of 3; 410 MB at 100,000 of 3. It does not grow with consumers or allocations.
_BYTES_OF_ITS_OWN = 75_000_000
_BYTES_PER_PROVIDER = 2_400
_BYTES_PER_INVENTORY = 400
# To list all 100,000 took it to 826 MB; to read everything anew, it has the old and the new beside each other.
_AT_WORST = 2.2


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the database runs on."""

    name: str
    version: str
    is_galera: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.version}{', a node of a Galera cluster' if self.is_galera else ''}"


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What tables there are, and what is in the way of `migrate.sync`, if anything."""

    revision: str | None
    own_revision: str | None
    is_empty: bool
    obstacle: str | None


@dataclass(frozen=True, slots=True)
class Size:
    """How many rows there are of what counts."""

    providers: int
    inventories: int
    consumers: int
    allocations: int

    @property
    def worker_bytes(self) -> int:
        """About how much memory a worker needs, most of the time."""
        return _BYTES_OF_ITS_OWN + self._cloud_bytes

    @property
    def worker_bytes_at_worst(self) -> int:
        """And while it reads everything anew, or lists all providers."""
        return _BYTES_OF_ITS_OWN + int(_AT_WORST * self._cloud_bytes)

    @property
    def _cloud_bytes(self) -> int:
        return self.providers * _BYTES_PER_PROVIDER + self.inventories * _BYTES_PER_INVENTORY


def server(connection: Connection) -> ServerFacts:
    version = ".".join(map(str, connection.dialect.server_version_info or ()))
    match connection.dialect.name:
        case "postgresql":
            return ServerFacts("PostgreSQL", version)
        case "mysql" | "mariadb":
            said = str(connection.scalar(text("SELECT VERSION()")))
            row = connection.execute(text("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")).first()
            name = "MariaDB" if "mariadb" in said.lower() else "MySQL"
            return ServerFacts(name, said.partition("-")[0], is_galera=row is not None and row[1] == "ON")
        case _:
            return ServerFacts("SQLite", version)


def schema(connection: Connection) -> SchemaState:
    """Judged by the rules of `migrate.sync`, which changes nothing where these see an obstacle."""
    try:
        found = migrate.look(connection)
        is_empty = found.revision is None and migrate.holds_nothing(connection, found)
        if not is_empty:
            migrate.refuse_unless_at_head(found)
    except migrate.SchemaError as error:
        return SchemaState(None, None, is_empty=False, obstacle=str(error))
    return SchemaState(found.revision, migrate.own_revision(connection), is_empty, obstacle=None)


def size(connection: Connection) -> Size:
    counted = (t.resource_providers, t.inventories, t.consumers, t.allocations)
    return Size(*(connection.scalar(select(func.count()).select_from(table)) or 0 for table in counted))


def without_transactions(connection: Connection) -> list[str]:
    """Tables that an older MySQL made in a way in which nothing can be undone."""
    if connection.dialect.name not in ("mysql", "mariadb"):
        return []
    query = text(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
        " AND table_type = 'BASE TABLE' AND engine <> 'InnoDB' ORDER BY table_name"
    )
    return [name for name in connection.scalars(query) if name in t.reference.tables]


def collations(connection: Connection) -> dict[str, list[str]]:
    """The columns of each collation, where there are several. We compare all texts by one, that of the providers."""
    if connection.dialect.name not in ("mysql", "mariadb"):
        return {}
    query = text(
        "SELECT table_name, column_name, collation_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND collation_name IS NOT NULL ORDER BY table_name, ordinal_position"
    )
    found: dict[str, list[str]] = {}
    for table, column, collation in connection.execute(query):
        if table in t.reference.tables:
            found.setdefault(collation, []).append(f"{table}.{column}")
    return found if len(found) > 1 else {}


def nameless(connection: Connection) -> list[str]:
    """The uuids of providers that have no name. The API never made one; the schema lets it pass."""
    p = t.resource_providers.c
    return list(connection.scalars(select(p.uuid).where(p.name.is_(None)).order_by(p.id)))


def names_taken_for_the_same(connection: Connection, keeping: DatabaseSemantics) -> list[str]:
    """Names of one kind that rows keep apart and that we would not, by how we think the database compares them."""
    kinds: tuple[tuple[Table, str], ...] = (
        (t.resource_providers, "name"),
        (t.resource_classes, "name"),
        (t.traits, "name"),
        (t.consumer_types, "name"),
        (t.projects, "external_id"),
        (t.users, "external_id"),
    )
    return [name for table, column in kinds for name in _alike(connection, table, column, keeping)]


def _alike(connection: Connection, table: Table, column: str, keeping: DatabaseSemantics) -> Iterator[str]:
    query = select(table.c[column]).where(table.c[column].is_not(None)).order_by(table.c.id)
    names = connection.scalars(query).all()
    keys = Counter(map(keeping.key, names))
    return (f"{name!r} in {table.name}" for name in names if keys[keeping.key(name)] > 1)
