# SPDX-License-Identifier: Apache-2.0

"""The epoch: created with the tables, different in each database, and part of every revision."""

from __future__ import annotations

import re

from plimsoll.ledger.ledger import Ledger
from plimsoll.storage.database import Database
from plimsoll.storage.epoch import UNKNOWN_EPOCH, read_epoch
from plimsoll.storage.schema import migrate
from tests.storage.schema import dump, rows
from tests.support.databases import Databases, run_sql

TABLES_OF_0003 = ("plimsoll_unplaced_requests", "plimsoll_unplaced", "plimsoll_epoch")


def epoch_of(db: Database) -> str:
    with db.read() as connection:
        return read_epoch(connection)


def test_each_new_database_has_another_epoch(databases: Databases) -> None:
    epochs = set[str]()
    for _ in range(2):
        with databases.fresh() as url:
            database = Database(url)
            migrate.sync(database)
            epochs.add(epoch_of(database))
            database.dispose()
    assert len(epochs) == 2
    assert all(re.fullmatch("[0-9a-f]{8}", each) for each in epochs)


def test_a_second_sync_leaves_the_epoch(db: Database) -> None:
    before = epoch_of(db)
    migrate.sync(db)
    assert epoch_of(db) == before


def test_tables_of_the_version_before_are_upgraded_and_keep_their_rows(db: Database, url: str) -> None:
    schema = dump(url, with_ours=True)
    _downgrade(url)
    run_sql(url, "UPDATE plimsoll_head SET seq = 7, mark = 8 WHERE id = 1")

    migrate.sync(db)

    assert rows(url, "plimsoll_head") == [{"id": 1, "seq": 7, "mark": 8}]
    run_sql(url, "UPDATE plimsoll_head SET seq = 0, mark = 0 WHERE id = 1")
    assert dump(url, with_ours=True) == schema
    assert epoch_of(db) != UNKNOWN_EPOCH


def test_an_upgrade_that_ended_between_two_tables_is_completed(db: Database, url: str) -> None:
    schema = dump(url, with_ours=True)
    run_sql(
        url,
        "DROP TABLE plimsoll_unplaced_requests",
        "DELETE FROM plimsoll_epoch",
        "UPDATE plimsoll_alembic_version SET version_num = '0002'",
    )

    migrate.sync(db)

    assert dump(url, with_ours=True) == schema
    assert epoch_of(db) != UNKNOWN_EPOCH


def test_a_service_of_the_version_before_continues_beside_the_new_tables(db: Database, url: str) -> None:
    """It has the tables of 0002 in use while `db sync` of this version runs: nothing that it uses changes."""
    new = dump(url, with_ours=True)
    _downgrade(url)
    before = dump(url, with_ours=True)

    migrate.sync(db)

    after = dump(url, with_ours=True)
    changed = {table for table in before if before[table] != after[table]}
    assert changed == {"plimsoll_alembic_version"}
    assert after == new


def test_the_revision_of_a_snapshot_has_the_epoch_and_the_number_of_the_last_change(
    db: Database, url: str
) -> None:
    run_sql(url, "UPDATE plimsoll_head SET seq = 12, mark = 3 WHERE id = 1")
    assert Ledger(db).snapshot().revision == f"{epoch_of(db)}:12"


def test_a_full_load_reads_the_epoch_again(db: Database, url: str) -> None:
    ledger = Ledger(db)
    run_sql(url, "UPDATE plimsoll_epoch SET epoch = 'feedbeef'")
    ledger.reload()
    assert ledger.snapshot().revision == "feedbeef:0"


def test_without_the_row_the_epoch_is_zero(db: Database, url: str) -> None:
    run_sql(url, "DELETE FROM plimsoll_epoch")
    assert Ledger(db).snapshot().revision == f"{UNKNOWN_EPOCH}:0"


def _downgrade(url: str) -> None:
    run_sql(
        url,
        *(f"DROP TABLE {table}" for table in TABLES_OF_0003),
        "UPDATE plimsoll_alembic_version SET version_num = '0002'",
    )
