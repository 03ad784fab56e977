# SPDX-License-Identifier: Apache-2.0

"""The online data migrations change the same rows as those of the reference, and make running services reload."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select, text

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes, tables
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import data_migrations
from plimsoll.storage.maintenance.data_migrations import MigrationCount
from plimsoll.storage.schema import migrate
from tests.storage import reference
from tests.storage.schema import dump, rows
from tests.support.databases import Databases, run_sql
from tests.support.external_writes import committed_write

DEFAULT_OWNER = "00000000-0000-0000-0000-000000000000"
MIGRATED_AT = datetime.fromisoformat("2026-11-15T12:30:00.250000")
SETTINGS = data_migrations.MigrationSettings(DEFAULT_OWNER, DEFAULT_OWNER, now=lambda: MIGRATED_AT)

FAIL_AT_LAST_PROVIDER = {
    "sqlite": [
        "CREATE TRIGGER broken BEFORE UPDATE ON resource_providers WHEN NEW.id = 11"
        " BEGIN SELECT RAISE(ABORT, 'broken'); END"
    ],
    "postgresql": [
        "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'broken'; END$$",
        "CREATE TRIGGER broken BEFORE UPDATE ON resource_providers FOR EACH ROW WHEN (NEW.id = 11)"
        " EXECUTE FUNCTION broken()",
    ],
    "mariadb": [
        "CREATE TRIGGER broken BEFORE UPDATE ON resource_providers FOR EACH ROW"
        " IF NEW.id = 11 THEN SIGNAL SQLSTATE '45000'; END IF"
    ],
}


@pytest.fixture
def legacy_db(db: Database, url: str) -> Database:
    """A migrated database with old rows: 11 providers without a root, 7 consumers without a row."""
    reference.fill(url)
    return db


@pytest.fixture
def migrated_at(databases: Databases) -> datetime:
    """The time of the migration as the reference's columns store it: on MariaDB, without fractions of a second."""
    return MIGRATED_AT.replace(microsecond=0) if databases.engine == "mariadb" else MIGRATED_AT


def test_roots_are_set_in_batches_and_only_where_there_is_none(
    legacy_db: Database, migrated_at: datetime
) -> None:
    with committed_write(legacy_db) as connection:
        assert data_migrations.count_rootless_providers(connection) == 11
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == MigrationCount(8, 8)
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == MigrationCount(3, 3)
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == MigrationCount(0, 0)
        rows = connection.execute(
            select(tables.resource_providers).order_by(tables.resource_providers.c.id)
        ).all()
    assert all(row.root_provider_id == row.id for row in rows)
    assert {row.updated_at for row in rows if row.id <= 11} == {migrated_at}
    assert rows[-1].updated_at is None


def test_consumers_are_created_in_batches_with_the_configured_owner(
    legacy_db: Database, migrated_at: datetime
) -> None:
    settings = data_migrations.MigrationSettings("a project", "a user", now=lambda: MIGRATED_AT)
    with committed_write(legacy_db) as connection:
        assert data_migrations.count_incomplete_consumers(connection) == 7
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == MigrationCount(5, 5)
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == MigrationCount(2, 2)
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == MigrationCount(0, 0)
        owners = connection.execute(
            select(
                tables.consumers.c.uuid,
                tables.projects.c.external_id,
                tables.users.c.external_id,
                tables.consumers.c.generation,
                tables.consumers.c.created_at,
            )
            .join(tables.projects, tables.consumers.c.project_id == tables.projects.c.id)
            .join(tables.users, tables.consumers.c.user_id == tables.users.c.id)
            .order_by(tables.consumers.c.uuid)
        ).all()
    assert owners == [(f"consumer-{number}", "a project", "a user", 0, migrated_at) for number in range(7)]


def test_an_existing_owner_is_used(legacy_db: Database) -> None:
    with committed_write(legacy_db) as connection:
        connection.execute(text(f"INSERT INTO projects (id, external_id) VALUES (41, '{DEFAULT_OWNER}')"))
        connection.execute(text(f"INSERT INTO users (id, external_id) VALUES (42, '{DEFAULT_OWNER}')"))
        data_migrations.create_incomplete_consumers(connection, 1, SETTINGS)
        assert connection.execute(text("SELECT project_id, user_id FROM consumers")).all() == [(41, 42)]


def test_a_batch_stops_at_its_limit_and_omits_migrations_it_did_not_reach(legacy_db: Database) -> None:
    assert data_migrations.run_batch(legacy_db, 8, SETTINGS).outcomes == {
        "set_root_provider_ids": MigrationCount(8, 8)
    }
    assert data_migrations.run_batch(legacy_db, 8, SETTINGS).outcomes == {
        "set_root_provider_ids": MigrationCount(3, 3),
        "create_incomplete_consumers": MigrationCount(5, 5),
    }


def test_each_batch_appends_a_reload_to_the_change_log(legacy_db: Database) -> None:
    data_migrations.run_batch(legacy_db, 50, SETTINGS)
    with legacy_db.read() as connection:
        logged = changes.since(connection, 0, limit=10)
        assert changes.read_head(connection).seq == 2
    assert logged == [
        Change(1, MIGRATED_AT, Actor(), "online_data_migrations", '[["reload"]]'),
        Change(2, MIGRATED_AT, Actor(), "online_data_migrations", '[["reload"]]'),
    ]


def test_a_batch_without_work_changes_nothing(db: Database, url: str) -> None:
    before = dump(url, with_ours=True)
    batch = data_migrations.run_batch(db, 50, SETTINGS)
    assert set(batch.outcomes.values()) == {MigrationCount(0, 0)}
    assert dump(url, with_ours=True) == before


def test_a_database_without_our_tables_is_migrated_too(reference_db: Database, reference_url: str) -> None:
    reference.fill(reference_url)
    batch = data_migrations.run_batch(reference_db, 50, SETTINGS)
    assert batch.outcomes["set_root_provider_ids"] == MigrationCount(11, 11)
    assert batch.failures == {}


def test_a_failed_migration_is_rolled_back_and_does_not_stop_the_next(
    legacy_db: Database, url: str, databases: Databases
) -> None:
    run_sql(url, *FAIL_AT_LAST_PROVIDER[databases.engine])
    batch = data_migrations.run_batch(legacy_db, 50, SETTINGS)
    assert list(batch.failures) == ["set_root_provider_ids"]
    assert batch.outcomes == {
        "set_root_provider_ids": MigrationCount(0, 0),
        "create_incomplete_consumers": MigrationCount(7, 7),
    }
    with legacy_db.read() as connection:
        assert data_migrations.count_rootless_providers(connection) == 11


def test_the_migrated_rows_equal_those_of_the_reference(
    databases: Databases, reference_url: str, reference_db: Database
) -> None:
    reference.fill(reference_url)
    migrated_by_reference = databases.create(like=reference_url)

    reference.manage(migrated_by_reference, "db", "online_data_migrations")
    migrate.sync(reference_db)
    data_migrations.run_batch(reference_db, 50, SETTINGS)

    for table in ("resource_providers", "consumers", "projects", "users", "allocations", "inventories"):
        assert _without_times(rows(reference_url, table)) == _without_times(
            rows(migrated_by_reference, table)
        ), table
    databases.drop(migrated_by_reference)


def _without_times(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Replace each timestamp by whether it is set."""
    return [
        {key: value is not None if key.endswith("_at") else value for key, value in row.items()}
        for row in sorted(found, key=lambda row: row["id"])
    ]
