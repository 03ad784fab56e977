# SPDX-License-Identifier: Apache-2.0

"""Our schema equals that of the reference, constraints included, plus our own tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData

from plimsoll.storage import tables
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.storage.schema import OWN_TABLES, describe_schema
from tests.support.databases import run_sql


def test_our_schema_equals_that_of_the_reference(reference_url: str, empty: Database, empty_url: str) -> None:
    migrate.sync(empty)

    made = describe_schema(empty_url)

    assert set(made) >= OWN_TABLES
    assert {name: table for name, table in made.items() if name not in OWN_TABLES} == describe_schema(
        reference_url
    )


@pytest.mark.parametrize(
    "difference",
    [
        "DROP INDEX inventories_resource_class_id_idx",
        "CREATE INDEX another_idx ON inventories (total)",
        "ALTER TABLE inventories ADD COLUMN another INTEGER",
        "CREATE TABLE another (id INTEGER)",
    ],
)
def test_a_difference_is_detected(url: str, difference: str) -> None:
    before = describe_schema(url)
    on_mariadb = url.startswith("mysql") and difference.startswith("DROP INDEX")
    run_sql(url, f"{difference} ON inventories" if on_mariadb else difference)
    assert describe_schema(url) != before


@pytest.mark.parametrize("metadata", [tables.reference, tables.own], ids=["reference", "own"])
def test_the_table_objects_match_the_tables_of_the_database(db: Database, metadata: MetaData) -> None:
    options = {"include_object": lambda thing, name, kind, *_: kind != "table" or name in metadata.tables}
    with db.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": True, "version_table": "none", **options}
        )
        assert compare_metadata(context, metadata) == []


def test_own_head_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [tables.OWN_HEAD]


def test_our_own_tables_have_our_prefix() -> None:
    assert set(tables.own.tables) == OWN_TABLES
    assert not any(name.startswith("plimsoll") for name in tables.reference.tables)
