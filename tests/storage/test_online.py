# SPDX-License-Identifier: Apache-2.0

"""The online data migrations do what the reference's do, and tell running services when they did something."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from plimsoll.storage import migrate, online, tables
from plimsoll.storage.engine import Database
from plimsoll.storage.online import Outcome
from tests.storage import reference

NOBODY = "00000000-0000-0000-0000-000000000000"
THEN = datetime.fromisoformat("2026-11-15T12:30:00.250000")
SETTINGS = online.Settings(NOBODY, NOBODY, now=lambda: THEN)


@pytest.fixture
def old(db: Database, file: Path) -> Database:
    """A synchronised database full of old rows: 11 providers without a root, 7 consumers without a record."""
    reference.fill(file)
    return db


def test_roots_are_set_in_batches_and_only_where_there_is_none(old: Database) -> None:
    with old.write() as connection:
        assert online.count_rootless_providers(connection) == 11
        assert online.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(8, 8)
        assert online.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(3, 3)
        assert online.set_root_provider_ids(connection, 8, SETTINGS) == Outcome(0, 0)
        rows = connection.execute(
            select(tables.resource_providers).order_by(tables.resource_providers.c.id)
        ).all()
    assert all(row.root_provider_id == row.id for row in rows)
    assert {row.updated_at for row in rows if row.id <= 11} == {THEN}
    assert rows[-1].updated_at is None


def test_consumers_are_created_in_batches_with_the_configured_owner(old: Database) -> None:
    settings = online.Settings("a project", "a user", now=lambda: THEN)
    with old.write() as connection:
        assert online.count_incomplete_consumers(connection) == 7
        assert online.create_incomplete_consumers(connection, 5, settings) == Outcome(5, 5)
        assert online.create_incomplete_consumers(connection, 5, settings) == Outcome(2, 2)
        assert online.create_incomplete_consumers(connection, 5, settings) == Outcome(0, 0)
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
    assert owners == [(f"consumer-{number}", "a project", "a user", 0, THEN) for number in range(7)]


def test_an_owner_that_is_already_known_is_used(old: Database) -> None:
    with old.write() as connection:
        connection.execute(text(f"INSERT INTO projects (id, external_id) VALUES (41, '{NOBODY}')"))
        connection.execute(text(f"INSERT INTO users (id, external_id) VALUES (42, '{NOBODY}')"))
        online.create_incomplete_consumers(connection, 1, SETTINGS)
        assert connection.execute(text("SELECT project_id, user_id FROM consumers")).all() == [(41, 42)]


def test_a_batch_stops_at_its_limit_and_a_migration_it_did_not_reach_is_not_named(old: Database) -> None:
    assert online.run_batch(old, 8, SETTINGS).outcomes == {"set_root_provider_ids": Outcome(8, 8)}
    assert online.run_batch(old, 8, SETTINGS).outcomes == {
        "set_root_provider_ids": Outcome(3, 3),
        "create_incomplete_consumers": Outcome(5, 5),
    }


def test_each_migration_that_changed_something_tells_running_services_to_reload(old: Database) -> None:
    online.run_batch(old, 50, SETTINGS)
    with old.read() as connection:
        logged = connection.execute(select(tables.changes).order_by(tables.changes.c.seq)).all()
        assert connection.execute(select(tables.head)).all() == [(1, 2)]
    assert logged == [
        (1, THEN, None, None, None, "online_data_migrations", '[["reload"]]'),
        (2, THEN, None, None, None, "online_data_migrations", '[["reload"]]'),
    ]


def test_nothing_to_do_changes_nothing_at_all(db: Database, file: Path) -> None:
    before, token = list(_dump(file)), db.version_token()
    batch = online.run_batch(db, 50, SETTINGS)
    assert set(batch.outcomes.values()) == {Outcome(0, 0)}
    assert list(_dump(file)) == before
    assert db.version_token() == token


def test_a_database_without_our_tables_is_migrated_too(reference_db: Database, reference_file: Path) -> None:
    reference.fill(reference_file)
    batch = online.run_batch(reference_db, 50, SETTINGS)
    assert batch.outcomes["set_root_provider_ids"] == Outcome(11, 11)
    assert batch.failures == {}


def test_a_migration_that_fails_changes_nothing_and_does_not_stop_the_next(old: Database) -> None:
    with old.write() as connection:
        connection.execute(
            text(
                "CREATE TRIGGER broken BEFORE UPDATE ON resource_providers WHEN NEW.id = 11"
                " BEGIN SELECT RAISE(ABORT, 'broken'); END"
            )
        )
    batch = online.run_batch(old, 50, SETTINGS)
    assert list(batch.failures) == ["set_root_provider_ids"]
    assert batch.outcomes == {
        "set_root_provider_ids": Outcome(0, 0),
        "create_incomplete_consumers": Outcome(7, 7),
    }
    with old.read() as connection:
        assert online.count_rootless_providers(connection) == 11


def test_the_rows_afterwards_are_those_that_the_reference_makes(
    reference_file: Path, reference_db: Database, tmp_path: Path
) -> None:
    reference.fill(reference_file)
    theirs = tmp_path / "theirs.sqlite"
    shutil.copy(reference_file, theirs)

    reference.manage(theirs, "db", "online_data_migrations")
    migrate.sync(reference_db)
    online.run_batch(reference_db, 50, SETTINGS)

    for table in ("resource_providers", "consumers", "projects", "users", "allocations", "inventories"):
        assert _rows(reference_file, table) == _rows(theirs, table), table


def _dump(file: Path) -> Iterator[str]:
    connection = sqlite3.connect(file)
    yield from connection.iterdump()
    connection.close()


def _rows(file: Path, table: str) -> list[dict[str, Any]]:
    """The rows of a table, each timestamp reduced to whether there is one."""
    connection = sqlite3.connect(file)
    connection.row_factory = sqlite3.Row
    rows = [
        {key: row[key] is not None if key.endswith("_at") else row[key] for key in row.keys()}  # noqa: SIM118
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY id")
    ]
    connection.close()
    return rows
