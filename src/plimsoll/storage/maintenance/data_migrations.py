# SPDX-License-Identifier: Apache-2.0

"""Online data migrations: complete rows that older Placement releases left incomplete, while services run.

Each migration can be repeated and works in batches. Each batch appends a change that makes all services reload, because
their memory contains providers and the usage of each owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, insert, inspect, select, update

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.lookup_tables import LookupSession, LookupTable, LookupTables
from plimsoll.storage.sql import Statement, utc_now
from plimsoll.storage.tables import allocations, consumers, head, resource_providers

OPERATION = "online_data_migrations"
RELOAD = '[["reload"]]'

_PROVIDERS_WITHOUT_ROOT = select(resource_providers.c.id).where(
    resource_providers.c.root_provider_id.is_(None)
)
_CONSUMERS_WITHOUT_ROW = (
    select(allocations.c.consumer_id)
    .select_from(allocations.outerjoin(consumers, allocations.c.consumer_id == consumers.c.uuid))
    .where(consumers.c.id.is_(None))
    .distinct()
)


@dataclass(frozen=True, slots=True)
class MigrationCount:
    """Number of rows that needed the migration, up to the limit, and number of migrated rows."""

    found: int = 0
    done: int = 0

    def __add__(self, other: MigrationCount) -> MigrationCount:
        return MigrationCount(self.found + other.found, self.done + other.done)


@dataclass(frozen=True, slots=True)
class MigrationSettings:
    """The owner of consumers without a row, and the clock."""

    incomplete_project_id: str
    incomplete_user_id: str
    now: Callable[[], datetime] = utc_now


@dataclass(frozen=True, slots=True, eq=False)
class MigrationBatch:
    """Counts and failures of one run over all migrations."""

    outcomes: Mapping[str, MigrationCount]
    failures: Mapping[str, Exception]


def count_rootless_providers(connection: Connection) -> int:
    """Return how many providers `set_root_provider_ids` still has to update."""
    return connection.scalar(select(func.count()).select_from(_PROVIDERS_WITHOUT_ROOT.subquery())) or 0


def count_incomplete_consumers(connection: Connection) -> int:
    """Return how many consumers `create_incomplete_consumers` still has to insert."""
    return connection.scalar(select(func.count()).select_from(_CONSUMERS_WITHOUT_ROW.subquery())) or 0


def set_root_provider_ids(connection: Connection, limit: int, settings: MigrationSettings) -> MigrationCount:
    """Make each provider without a root its own root: it was created before provider trees existed."""
    rootless = _PROVIDERS_WITHOUT_ROOT.order_by(resource_providers.c.id).limit(limit).subquery()
    result = connection.execute(
        update(resource_providers)
        .where(resource_providers.c.id.in_(select(rootless.c.id)))
        .values(root_provider_id=resource_providers.c.id, updated_at=settings.now())
    )
    return MigrationCount(result.rowcount, result.rowcount)


def create_incomplete_consumers(
    connection: Connection, limit: int, settings: MigrationSettings
) -> MigrationCount:
    """Insert a consumer, with the configured owner, for allocations whose consumer has no row."""
    uuids = connection.scalars(_CONSUMERS_WITHOUT_ROW.order_by(allocations.c.consumer_id).limit(limit)).all()
    if not uuids:
        return MigrationCount()
    now, lookup_tables = settings.now(), LookupTables()
    owner = {
        "project_id": _row_id(connection, lookup_tables.projects, settings.incomplete_project_id, now),
        "user_id": _row_id(connection, lookup_tables.users, settings.incomplete_user_id, now),
    }
    connection.execute(
        insert(consumers), [{"uuid": uuid, "generation": 0, "created_at": now, **owner} for uuid in uuids]
    )
    return MigrationCount(len(uuids), len(uuids))


Migration = Callable[[Connection, int, MigrationSettings], MigrationCount]

MIGRATIONS: tuple[Migration, ...] = (set_root_provider_ids, create_incomplete_consumers)


def run_batch(db: Database, limit: int, settings: MigrationSettings) -> MigrationBatch:
    """Run one migration after the other until `limit` rows are migrated; a failure does not stop the next one."""
    outcomes: dict[str, MigrationCount] = {}
    failures: dict[str, Exception] = {}
    remaining = limit
    for migration in MIGRATIONS:
        name = migration.__name__
        try:
            outcomes[name] = _run(db, migration, remaining, settings)
        except Exception as failure:
            failures[name] = failure
            outcomes[name] = MigrationCount()
        remaining -= outcomes[name].done
        if remaining <= 0:
            break
    return MigrationBatch(outcomes, failures)


def _run(db: Database, migration: Migration, limit: int, settings: MigrationSettings) -> MigrationCount:
    with db.transaction() as transaction:
        connection = transaction.connection
        # A database without our tables has no head, and no service of ours that would have to reload.
        head_before = transaction.lock_head() if inspect(connection).has_table(head.name) else None
        outcome = migration(connection, limit, settings)
        last: list[Statement] = []
        if outcome.done and head_before is not None:
            change = Change(head_before.seq + 1, settings.now(), Actor(), OPERATION, RELOAD)
            last = changes.append_statements(transaction.dialect, [change], head_before, changes.new_mark())
        transaction.commit(last)
        return outcome


def _row_id(connection: Connection, table: LookupTable, name: str, now: datetime) -> int:
    return LookupSession(lambda: connection, now).entries(table, {name})[name].id
