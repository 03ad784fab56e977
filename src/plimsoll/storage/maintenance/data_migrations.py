# SPDX-License-Identifier: Apache-2.0

"""Data migrations that run while the service does: they complete rows that older Placements left incomplete.

Each is safe to repeat, works in batches, and has a line in the change log for each of them, which tells services to
load anew: they keep in memory what a provider is, and what the owner of a consumer uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, inspect, select, update

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.lookup_tables import LookupTable, LookupTables, Reading
from plimsoll.storage.tables import allocations, consumers, head, resource_providers

OPERATION = "online_data_migrations"
RELOAD = '[["reload"]]'

_ROOTLESS = select(resource_providers.c.id).where(resource_providers.c.root_provider_id.is_(None))
_UNRECORDED = (
    select(allocations.c.consumer_id)
    .select_from(allocations.outerjoin(consumers, allocations.c.consumer_id == consumers.c.uuid))
    .where(consumers.c.id.is_(None))
    .distinct()
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many rows wanted the migration, up to the limit, and how many got it."""

    found: int = 0
    done: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(self.found + other.found, self.done + other.done)


def _utcnow() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class MigrationSettings:
    """Who owns consumers that nobody claimed, and what time it is."""

    incomplete_project_id: str
    incomplete_user_id: str
    now: Callable[[], datetime] = field(default=_utcnow)


@dataclass(frozen=True, slots=True, eq=False)
class MigrationBatch:
    """What one round over all migrations did, and which of them failed."""

    outcomes: Mapping[str, Outcome]
    failures: Mapping[str, Exception]


def count_rootless_providers(connection: Connection) -> int:
    """How many providers `set_root_provider_ids` has yet to see to."""
    return connection.scalar(select(func.count()).select_from(_ROOTLESS.subquery())) or 0


def count_incomplete_consumers(connection: Connection) -> int:
    """How many consumers `create_incomplete_consumers` has yet to create."""
    return connection.scalar(select(func.count()).select_from(_UNRECORDED.subquery())) or 0


def set_root_provider_ids(connection: Connection, limit: int, settings: MigrationSettings) -> Outcome:
    """Make each provider that has no root its own root: it is older than provider trees."""
    rootless = _ROOTLESS.order_by(resource_providers.c.id).limit(limit).subquery()
    result = connection.execute(
        update(resource_providers)
        .where(resource_providers.c.id.in_(select(rootless.c.id)))
        .values(root_provider_id=resource_providers.c.id, updated_at=settings.now())
    )
    return Outcome(result.rowcount, result.rowcount)


def create_incomplete_consumers(connection: Connection, limit: int, settings: MigrationSettings) -> Outcome:
    """Give a consumer record, with the configured owner, to allocations whose consumer has none."""
    uuids = connection.scalars(_UNRECORDED.order_by(allocations.c.consumer_id).limit(limit)).all()
    if not uuids:
        return Outcome()
    now, registers = settings.now(), LookupTables()
    owner = {
        "project_id": _row_id(connection, registers.projects, settings.incomplete_project_id, now),
        "user_id": _row_id(connection, registers.users, settings.incomplete_user_id, now),
    }
    connection.execute(
        insert(consumers), [{"uuid": uuid, "generation": 0, "created_at": now, **owner} for uuid in uuids]
    )
    return Outcome(len(uuids), len(uuids))


Migration = Callable[[Connection, int, MigrationSettings], Outcome]

MIGRATIONS: tuple[Migration, ...] = (set_root_provider_ids, create_incomplete_consumers)


def run_batch(db: Database, limit: int, settings: MigrationSettings) -> MigrationBatch:
    """Run each migration in turn until `limit` rows are migrated; one that fails does not stop the next."""
    outcomes: dict[str, Outcome] = {}
    failures: dict[str, Exception] = {}
    left = limit
    for migration in MIGRATIONS:
        name = migration.__name__
        try:
            outcomes[name] = _run(db, migration, left, settings)
        except Exception as failure:
            failures[name] = failure
            outcomes[name] = Outcome()
        left -= outcomes[name].done
        if left <= 0:
            break
    return MigrationBatch(outcomes, failures)


def _run(db: Database, migration: Migration, limit: int, settings: MigrationSettings) -> Outcome:
    with db.write() as connection:
        # A database that only the reference has used has no head, and no service of ours to tell.
        head_before = changes.lock_head(connection) if inspect(connection).has_table(head.name) else None
        outcome = migration(connection, limit, settings)
        if outcome.done and head_before is not None:
            change = Change(head_before.seq + 1, settings.now(), Actor(), OPERATION, RELOAD)
            changes.append(connection, [change], head_before, changes.new_mark())
        return outcome


def _row_id(connection: Connection, register: LookupTable, name: str, now: datetime) -> int:
    return Reading(connection, now).entries(register, {name})[name].id
