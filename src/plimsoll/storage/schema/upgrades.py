# SPDX-License-Identifier: Apache-2.0

"""Steps that upgrade the Placement schema of every release since Stein, revision by revision, to REFERENCE_HEAD.

Each step can be repeated: MariaDB commits every DDL statement, so an interrupted step may have run in part. A step
inspects the tables, and adds or drops only the parts that differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, DateTime, Integer, Unicode, UniqueConstraint, inspect

from plimsoll.storage import tables as t
from plimsoll.storage.maintenance import data_migrations

if TYPE_CHECKING:
    from alembic.operations import Operations
    from sqlalchemy.engine.interfaces import ReflectedForeignKeyConstraint

FIRST = "b4ed3a175331"
"""Revision of Stein, and of tables that were copied from nova's database."""

_NEW_TABLE, _NEW_COLUMN = "consumer_types", "consumer_type_id"

_REDUNDANT_INDEXES = (
    ("inventories", "inventories_resource_provider_id_idx"),
    ("inventories", "inventories_resource_provider_resource_class_idx"),
    ("placement_aggregates", "ix_placement_aggregates_uuid"),
    ("resource_providers", "resource_providers_name_idx"),
    ("resource_providers", "resource_providers_uuid_idx"),
)


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """One step to `revision`. `count_obstacles` returns the number of rows that must be completed before."""

    revision: str
    summary: str
    run: Callable[[Operations], None] = lambda _: None
    count_obstacles: Callable[[Connection], int] = lambda _: 0
    obstacle: str = ""


def steps_from(revision: str) -> tuple[UpgradeStep, ...]:
    """Return the steps from a known revision to REFERENCE_HEAD."""
    return _STEPS[t.REFERENCE_REVISIONS.index(revision) :]


def tables_at(revision: str | None) -> frozenset[str]:
    """Return the names of Placement's tables at a revision, without the table of the revision."""
    all_tables = frozenset(t.reference.tables) - {t.REFERENCE_VERSION_TABLE}
    added_later = revision in t.REFERENCE_REVISIONS and any(
        step.run is _add_consumer_types for step in steps_from(revision)
    )
    return all_tables - {_NEW_TABLE} if added_later else all_tables


def has_consumer_types(connection: Connection) -> bool:
    """True if consumers have a type, as in all tables since 422ece571366."""
    return _NEW_COLUMN in _columns(connection, "consumers")


def guess_revision(connection: Connection) -> str:
    """Return the oldest revision whose tables look like these."""
    if not has_consumer_types(connection):
        return FIRST
    is_older = any(index in _indexes(connection, table) for table, index in _REDUNDANT_INDEXES)
    return t.REFERENCE_REVISIONS[-2] if is_older else t.REFERENCE_HEAD


def run(connection: Connection, step: UpgradeStep) -> None:
    """Change the tables; the caller records the revision."""
    # Imported here because Alembic is slow to import, and most starts do not need it.
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    step.run(Operations(MigrationContext.configure(connection)))


def _add_consumer_types(operations: Operations) -> None:
    connection = operations.get_bind()
    if not inspect(connection).has_table(_NEW_TABLE):
        operations.create_table(
            _NEW_TABLE,
            Column("created_at", DateTime),
            Column("updated_at", DateTime),
            Column("id", Integer, primary_key=True),
            Column("name", Unicode(255), nullable=False),
            UniqueConstraint("name", name="uniq_consumer_types0name"),
        )
    # SQLite has no ALTER TABLE for a constraint: there the batch copies the table, in this transaction.
    with operations.batch_alter_table("consumers") as batch:
        if not has_consumer_types(connection):
            batch.add_column(Column(_NEW_COLUMN, Integer))
        if not any(_NEW_COLUMN in key["constrained_columns"] for key in _foreign_keys(connection)):
            batch.create_foreign_key("consumers_consumer_type_id_fkey", _NEW_TABLE, [_NEW_COLUMN], ["id"])
    if "consumers_consumer_type_id_idx" not in _indexes(connection, "consumers"):
        operations.create_index("consumers_consumer_type_id_idx", "consumers", [_NEW_COLUMN])


def _drop_redundant_indexes(operations: Operations) -> None:
    for table, index in _REDUNDANT_INDEXES:
        if index in _indexes(operations.get_bind(), table):
            operations.drop_index(index, table_name=table)


_STEPS = (
    UpgradeStep(
        "611cd6dffd7b",
        "every provider must have a root",
        count_obstacles=data_migrations.count_rootless_providers,
        obstacle="providers have no root",
    ),
    UpgradeStep(
        "b5c396305c25",
        "every consumer must have a record",
        count_obstacles=data_migrations.count_incomplete_consumers,
        obstacle="consumers have no record",
    ),
    UpgradeStep(
        "422ece571366", "adds the table consumer_types and its column in consumers", _add_consumer_types
    ),
    UpgradeStep(
        t.REFERENCE_HEAD, "drops five indexes that repeat unique constraints", _drop_redundant_indexes
    ),
)


def _columns(connection: Connection, table: str) -> set[str]:
    found = inspect(connection)
    return {column["name"] for column in found.get_columns(table)} if found.has_table(table) else set()


def _indexes(connection: Connection, table: str) -> set[str | None]:
    found = inspect(connection)
    return {index["name"] for index in found.get_indexes(table)} if found.has_table(table) else set()


def _foreign_keys(connection: Connection) -> list[ReflectedForeignKeyConstraint]:
    return inspect(connection).get_foreign_keys("consumers")
