# SPDX-License-Identifier: Apache-2.0

"""The online data migrations do what the reference's do, and tell running services when they did something."""

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
from plimsoll.storage.maintenance.data_migrations import Outcome
from plimsoll.storage.schema import migrate
from tests.storage import reference
from tests.storage.schema import dump, rows
from tests.support.databases import Databases, run_sql

NOBODY = "00000000-0000-0000-0000-000000000000"
THEN = datetime.fromisoformat("2026-11-15T12:30:00.250000")
SETTINGS = data_migrations.MigrationSettings(NOBODY, NOBODY, now=lambda: THEN)

BREAKS_AT_THE_LAST = {
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
def old(db: Database, url: str) -> Database:
    """A synchronised database full of old rows: 11 providers without a root, 7 consumers without a record."""
    reference.fill(url)
    return db


@pytest.fixture
def then(databases: Databases) -> datetime:
    """The moment of the migration, as the reference's columns keep it: on MariaDB, to the second."""
    return THEN.replace(microsecond=0) if databases.engine == "mariadb" else THEN


def test_roots_are_set_in_batches_and_only_where_there_is_none(old: Database, then: datetime) -> None:
    with old.write() as connection:
        assert data_migrations.count_rootless_providers(connection) == 11
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(8, 8)
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(3, 3)
        assert data_migrations.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(0, 0)
        rows = connection.execute(
            select(tables.resource_providers).order_by(tables.resource_providers.c.id)
        ).all()
    assert all(row.root_provider_id == row.id for row in rows)
    assert {row.updated_at for row in rows if row.id <= 11} == {then}
    assert rows[-1].updated_at is None


def test_consumers_are_created_in_batches_with_the_configured_owner(old: Database, then: datetime) -> None:
    settings = data_migrations.MigrationSettings("a project", "a user", now=lambda: THEN)
    with old.write() as connection:
        assert data_migrations.count_incomplete_consumers(connection) == 7
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == Outcome(5, 5)
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == Outcome(2, 2)
        assert data_migrations.create_incomplete_consumers(connection, 5, settings) == Outcome(0, 0)
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
    assert owners == [(f"consumer-{number}", "a project", "a user", 0, then) for number in range(7)]


def test_an_owner_that_is_already_known_is_used(old: Database) -> None:
    with old.write() as connection:
        connection.execute(text(f"INSERT INTO projects (id, external_id) VALUES (41, '{NOBODY}')"))
        connection.execute(text(f"INSERT INTO users (id, external_id) VALUES (42, '{NOBODY}')"))
        data_migrations.create_incomplete_consumers(connection, 1, SETTINGS)
        assert connection.execute(text("SELECT project_id, user_id FROM consumers")).all() == [(41, 42)]


def test_a_batch_stops_at_its_limit_and_a_migration_it_did_not_reach_is_not_named(old: Database) -> None:
    assert data_migrations.run_batch(old, 8, SETTINGS).outcomes == {"set_root_provider_ids": Outcome(8, 8)}
    assert data_migrations.run_batch(old, 8, SETTINGS).outcomes == {
        "set_root_provider_ids": Outcome(3, 3),
        "create_incomplete_consumers": Outcome(5, 5),
    }


def test_each_batch_has_a_line_in_the_log_and_services_reload_if_it_changed_providers(old: Database) -> None:
    data_migrations.run_batch(old, 50, SETTINGS)
    with old.read() as connection:
        logged = changes.since(connection, 0, most=10)
        assert changes.read_head(connection).seq == 2
    assert logged == [
        Change(1, THEN, Actor(), "online_data_migrations", '[["reload"]]'),
        Change(2, THEN, Actor(), "online_data_migrations", '[["reload"]]'),
    ]


def test_nothing_to_do_changes_nothing_at_all(db: Database, url: str) -> None:
    before = dump(url, with_ours=True)
    batch = data_migrations.run_batch(db, 50, SETTINGS)
    assert set(batch.outcomes.values()) == {Outcome(0, 0)}
    assert dump(url, with_ours=True) == before


def test_a_database_without_our_tables_is_migrated_too(reference_db: Database, reference_url: str) -> None:
    reference.fill(reference_url)
    batch = data_migrations.run_batch(reference_db, 50, SETTINGS)
    assert batch.outcomes["set_root_provider_ids"] == Outcome(11, 11)
    assert batch.failures == {}


def test_a_migration_that_fails_changes_nothing_and_does_not_stop_the_next(
    old: Database, url: str, databases: Databases
) -> None:
    run_sql(url, *BREAKS_AT_THE_LAST[databases.engine])
    batch = data_migrations.run_batch(old, 50, SETTINGS)
    assert list(batch.failures) == ["set_root_provider_ids"]
    assert batch.outcomes == {
        "set_root_provider_ids": Outcome(0, 0),
        "create_incomplete_consumers": Outcome(7, 7),
    }
    with old.read() as connection:
        assert data_migrations.count_rootless_providers(connection) == 11


def test_the_rows_afterwards_are_those_that_the_reference_makes(
    databases: Databases, reference_url: str, reference_db: Database
) -> None:
    reference.fill(reference_url)
    theirs = databases.create(like=reference_url)

    reference.manage(theirs, "db", "online_data_migrations")
    migrate.sync(reference_db)
    data_migrations.run_batch(reference_db, 50, SETTINGS)

    for table in ("resource_providers", "consumers", "projects", "users", "allocations", "inventories"):
        assert _timeless(rows(reference_url, table)) == _timeless(rows(theirs, table)), table
    databases.drop(theirs)


def _timeless(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each timestamp reduced to whether there is one."""
    return [
        {key: value is not None if key.endswith("_at") else value for key, value in row.items()}
        for row in sorted(found, key=lambda row: row["id"])
    ]
