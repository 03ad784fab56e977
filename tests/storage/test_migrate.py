# SPDX-License-Identifier: Apache-2.0

"""`sync`, `version` and `stamp` on each kind of database, including those that they must not change."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import select

from plimsoll.storage import tables
from plimsoll.storage.changes import read_head
from plimsoll.storage.database import Database
from plimsoll.storage.head import BEGINNING
from plimsoll.storage.schema import migrate
from plimsoll.storage.schema.migrate import SchemaError
from tests.storage import reference
from tests.storage.schema import dump, table_names
from tests.support.databases import Databases, run_sql


def test_an_empty_database_has_no_version(empty: Database) -> None:
    assert migrate.version(empty) is None
    assert not migrate.is_current(empty)


def test_an_empty_database_gets_every_table_and_both_revisions(empty: Database, empty_url: str) -> None:
    migrate.sync(empty)

    assert table_names(empty_url) == {*tables.reference.tables, *tables.own.tables}
    assert migrate.version(empty) == "a082b8bb98d0"
    assert migrate.is_current(empty)
    with empty.read() as connection:
        assert read_head(connection) == BEGINNING
        assert connection.scalar(select(tables.own_version.c.version_num)) == tables.OWN_HEAD


def test_a_second_sync_changes_nothing(db: Database, url: str) -> None:
    before = dump(url, with_ours=True)
    migrate.sync(db)
    assert dump(url, with_ours=True) == before


def test_a_database_of_the_reference_gets_our_tables_and_no_other_change(
    reference_db: Database, reference_url: str
) -> None:
    reference.fill(reference_url)
    before = dump(reference_url)

    migrate.sync(reference_db)

    assert dump(reference_url) == before
    assert table_names(reference_url) == {*tables.reference.tables, *tables.own.tables}


def test_the_reference_finds_nothing_to_do_on_our_database(db: Database, url: str) -> None:
    before = dump(url)
    db.dispose()

    reference.manage(url, "db", "sync")

    assert dump(url) == before
    assert reference.manage(url, "db", "version").stdout == f"{migrate.version(db)}\n"


def test_an_older_record_of_tables_that_are_current_is_corrected(
    reference_db: Database, reference_url: str
) -> None:
    """Each step of an upgrade can be repeated. Databases of older releases: tests/takeover/test_old_revisions.py."""
    before = dump(reference_url)
    run_sql(reference_url, f"UPDATE alembic_version SET version_num = '{tables.REFERENCE_REVISIONS[0]}'")
    migrate.sync(reference_db)
    assert dump(reference_url) == before


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["UPDATE alembic_version SET version_num = 'ffffffffffff'"], "ffffffffffff.*newer than"),
        (["DELETE FROM alembic_version"], "no record of their revision.*`plimsoll db stamp a082b8bb98d0`"),
        (["DROP TABLE alembic_version"], "no record of their revision"),
        (["DROP TABLE users", "DROP TABLE projects"], "missing: projects, users"),
        (
            ["DROP TABLE users", "UPDATE alembic_version SET version_num = 'b4ed3a175331'"],
            "revision b4ed3a175331 .*missing: users",
        ),
        (["INSERT INTO alembic_version VALUES ('422ece571366')"], "several revisions: 422ece571366, a082"),
    ],
)
def test_an_unknown_schema_is_refused_and_not_changed(
    reference_db: Database, reference_url: str, statements: list[str], message: str
) -> None:
    reference.fill(reference_url)
    run_sql(reference_url, *statements)
    before = dump(reference_url)

    with pytest.raises(SchemaError, match=message):
        migrate.sync(reference_db)

    assert dump(reference_url) == before
    assert not table_names(reference_url) & set(tables.own.tables)


def test_the_database_of_another_service_is_refused(empty: Database, empty_url: str) -> None:
    run_sql(
        empty_url,
        "CREATE TABLE alembic_version (version_num VARCHAR(32))",
        "INSERT INTO alembic_version VALUES ('abc')",
    )
    with pytest.raises(SchemaError, match="belongs to another service"):
        migrate.sync(empty)


def test_tables_of_a_newer_plimsoll_are_refused(db: Database, url: str) -> None:
    run_sql(url, "UPDATE plimsoll_alembic_version SET version_num = '9999'")
    assert not migrate.is_current(db)
    with pytest.raises(SchemaError, match=r"9999.*newer Plimsoll"):
        migrate.sync(db)


@pytest.mark.parametrize(
    "failing_call",
    [
        pytest.param(
            "plimsoll.storage.schema.migrate._set_revision",
            id="before the revision of the reference is recorded",
        ),
        pytest.param("alembic.command.upgrade", id="before our tables are created"),
        pytest.param(
            "alembic.runtime.migration.HeadMaintainer.update_to_step", id="before our revision is recorded"
        ),
    ],
)
def test_the_next_sync_completes_one_that_crashed(
    databases: Databases, empty: Database, empty_url: str, url: str, failing_call: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(failing_call, _crash)
        with pytest.raises(RuntimeError, match="crashed"):
            migrate.sync(empty)
    # MariaDB commits each CREATE TABLE.
    assert databases.engine == "mariadb" or table_names(empty_url) == set()
    migrate.sync(empty)
    assert dump(empty_url, with_ours=True) == dump(url, with_ours=True)


def _crash(*_: object) -> None:
    raise RuntimeError("crashed")


def test_processes_can_sync_at_the_same_time(empty: Database, empty_url: str) -> None:
    script = (
        "import sys; from plimsoll.storage.schema import migrate; from plimsoll.storage.database import Database;"
        " migrate.sync(Database(sys.argv[1]))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, empty_url], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert errors == [""] * 4
    assert migrate.is_current(empty)
    with empty.read() as connection:
        assert read_head(connection) == BEGINNING


@pytest.mark.parametrize(
    ("given", "recorded"),
    [("head", "a082b8bb98d0"), ("422ece571366", "422ece571366"), ("b5c3", "b5c396305c25"), ("base", None)],
)
def test_a_stamp_records_a_revision_and_touches_no_table(
    db: Database, given: str, recorded: str | None
) -> None:
    migrate.stamp(db, given)
    assert migrate.version(db) == recorded


def test_the_reference_reads_our_stamp(db: Database, url: str) -> None:
    migrate.stamp(db, "422e")
    db.dispose()
    assert reference.manage(url, "db", "version").stdout == "422ece571366\n"


@pytest.mark.parametrize("revision", ["xyz", "b", "", "0001"])
def test_an_unknown_or_ambiguous_revision_is_refused(db: Database, revision: str) -> None:
    with pytest.raises(SchemaError, match="Can't locate revision"):
        migrate.stamp(db, revision)
    assert migrate.version(db) == "a082b8bb98d0"


def test_a_stamp_does_not_replace_the_revision_of_another_service(db: Database, url: str) -> None:
    run_sql(url, "UPDATE alembic_version SET version_num = 'theirs'")
    with pytest.raises(SchemaError, match=r"The database is at revision theirs, .* Nothing was changed\."):
        migrate.stamp(db, "head")
    assert migrate.version(db) == "theirs"


def test_a_stamped_empty_database_is_refused_because_tables_are_missing(empty: Database) -> None:
    migrate.stamp(empty, "head")
    assert migrate.version(empty) == "a082b8bb98d0"
    with pytest.raises(SchemaError, match="tables are missing"):
        migrate.sync(empty)
