# SPDX-License-Identifier: Apache-2.0

"""The change log across releases: the column of 0004, and rows of workers that do not have it."""

from __future__ import annotations

from plimsoll.storage import changes
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.storage.schema import dump
from tests.support.databases import run_sql


def test_tables_of_the_release_before_get_the_column(db: Database, url: str) -> None:
    schema = dump(url, with_ours=True)
    run_sql(
        url,
        "ALTER TABLE plimsoll_changes DROP COLUMN global_request_id",
        "UPDATE plimsoll_alembic_version SET version_num = '0003'",
    )
    migrate.sync(db)
    assert dump(url, with_ours=True) == schema


def test_a_worker_of_the_release_before_goes_on_writing(db: Database, url: str) -> None:
    run_sql(
        url,
        "INSERT INTO plimsoll_changes (seq, mark, at, request_id, user_id, project_id, operation, effects)"
        " VALUES (1, 5, '2026-11-18 12:00:00', 'req-1', 'u', 'p', 'trait.create', '[]')",
    )
    with db.read() as conn:
        (logged,) = changes.logged_after(conn, 0, 10)
    assert (logged.mark, logged.change.actor.global_request_id) == (5, None)
