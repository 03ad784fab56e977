# SPDX-License-Identifier: Apache-2.0

"""What `sync`, `version` and `stamp` do to each kind of database, and to which they do nothing."""

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


def test_an_empty_database_gets_every_table_and_both_stamps(empty: Database, empty_url: str) -> None:
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


def test_a_database_that_the_reference_filled_gets_our_tables_and_no_other_change(
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


@pytest.mark.parametrize("revision", tables.REFERENCE_REVISIONS[:-1])
def test_an_older_placement_is_refused_and_told_what_to_run(
    reference_db: Database, reference_url: str, revision: str
) -> None:
    run_sql(reference_url, f"UPDATE alembic_version SET version_num = '{revision}'")
    before = dump(reference_url)

    with pytest.raises(SchemaError, match=f"{revision}.*`placement-manage db sync`.*`plimsoll db sync`"):
        migrate.sync(reference_db)

    assert dump(reference_url) == before
    assert not table_names(reference_url) & set(tables.own.tables)


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        (["UPDATE alembic_version SET version_num = 'ffffffffffff'"], "ffffffffffff.*newer than"),
        (["DELETE FROM alembic_version"], "no record of their revision.*`plimsoll db stamp head`"),
        (["DROP TABLE alembic_version"], "no record of their revision"),
        (["DROP TABLE users", "DROP TABLE projects"], "missing: projects, users"),
        (["INSERT INTO alembic_version VALUES ('422ece571366')"], "several revisions: 422ece571366, a082"),
    ],
)
def test_a_schema_we_do_not_know_is_refused_untouched(
    reference_db: Database, reference_url: str, statements: list[str], says: str
) -> None:
    reference.fill(reference_url)
    run_sql(reference_url, *statements)
    before = dump(reference_url)

    with pytest.raises(SchemaError, match=says):
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
    "moment",
    [
        pytest.param(
            "plimsoll.storage.schema.migrate._set_revision", id="before the reference's tables are stamped"
        ),
        pytest.param("alembic.command.upgrade", id="before ours are made"),
        pytest.param("alembic.runtime.migration.HeadMaintainer.update_to_step", id="before ours are stamped"),
    ],
)
def test_a_sync_that_fails_half_way_is_done_by_the_next_one(
    databases: Databases, empty: Database, empty_url: str, url: str, moment: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moment, _lose_power)
        with pytest.raises(RuntimeError, match="the power is gone"):
            migrate.sync(empty)
    # MariaDB commits each table as it is made.
    assert databases.engine == "mariadb" or table_names(empty_url) == set()
    migrate.sync(empty)
    assert dump(empty_url, with_ours=True) == dump(url, with_ours=True)


def _lose_power(*_: object) -> None:
    raise RuntimeError("the power is gone")


def test_processes_that_sync_at_once_all_find_it_done(empty: Database, empty_url: str) -> None:
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
    [
        ("head", "a082b8bb98d0"),
        ("422ece571366", "422ece571366"),
        ("b5c3", "b5c396305c25"),
        ("base", None),
    ],
)
def test_a_stamp_records_a_revision_and_touches_no_table(
    db: Database, given: str, recorded: str | None
) -> None:
    migrate.stamp(db, given)
    assert migrate.version(db) == recorded


def test_a_stamp_is_the_reference_s_stamp(db: Database, url: str) -> None:
    migrate.stamp(db, "422e")
    db.dispose()
    assert reference.manage(url, "db", "version").stdout == "422ece571366\n"


@pytest.mark.parametrize("revision", ["xyz", "b", "", "0001"])
def test_a_revision_that_is_unknown_or_not_one_alone_is_refused(db: Database, revision: str) -> None:
    with pytest.raises(SchemaError, match="Can't locate revision"):
        migrate.stamp(db, revision)
    assert migrate.version(db) == "a082b8bb98d0"


def test_a_record_of_somebody_else_s_stays(db: Database, url: str) -> None:
    run_sql(url, "UPDATE alembic_version SET version_num = 'theirs'")
    with pytest.raises(SchemaError, match=r"The database is at revision theirs, .* Nothing was changed\."):
        migrate.stamp(db, "head")
    assert migrate.version(db) == "theirs"


def test_an_empty_database_can_be_stamped_and_is_then_known_to_lack_its_tables(empty: Database) -> None:
    migrate.stamp(empty, "head")
    assert migrate.version(empty) == "a082b8bb98d0"
    with pytest.raises(SchemaError, match="tables are missing"):
        migrate.sync(empty)
