# SPDX-License-Identifier: Apache-2.0

"""Our schema is the reference's, to the last constraint, and our own tables beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, create_engine, inspect

from plimsoll.storage import migrate, tables
from plimsoll.storage.engine import Database

OURS = {"plimsoll_head", "plimsoll_changes", "plimsoll_alembic_version"}


def described(file: Path) -> dict[str, dict[str, Any]]:
    """All that SQLAlchemy can find out about each table of a database."""
    engine = create_engine(f"sqlite:///{file}")
    found = inspect(engine)
    tables = {
        table: {
            "columns": [
                (column["name"], str(column["type"]), column["nullable"], column["default"])
                for column in found.get_columns(table)
            ],
            "primary key": found.get_pk_constraint(table),
            "indexes": _sorted(found.get_indexes(table)),
            "unique": _sorted(found.get_unique_constraints(table)),
            "foreign keys": _sorted(found.get_foreign_keys(table)),
            "checks": _sorted(found.get_check_constraints(table)),
        }
        for table in found.get_table_names()
    }
    engine.dispose()
    return tables


def _sorted(constraints: Any) -> list[Any]:
    return sorted(constraints, key=repr)


def test_a_database_made_here_is_one_that_the_reference_made(reference_file: Path, tmp_path: Path) -> None:
    ours = Database(f"sqlite:///{tmp_path / 'ours.sqlite'}")
    migrate.sync(ours)
    ours.dispose()

    made = described(tmp_path / "ours.sqlite")

    assert set(made) >= OURS
    assert {name: table for name, table in made.items() if name not in OURS} == described(reference_file)


@pytest.mark.parametrize("metadata", [tables.reference, tables.own], ids=["reference", "own"])
def test_the_table_objects_describe_the_tables_that_are_there(db: Database, metadata: MetaData) -> None:
    options = {"include_object": lambda thing, name, kind, *_: kind != "table" or name in metadata.tables}
    with db.read() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": True, "version_table": "none", **options}
        )
        assert compare_metadata(context, metadata) == []


def test_the_head_named_beside_the_tables_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [tables.OWN_HEAD]


def test_everything_of_ours_carries_our_prefix() -> None:
    assert set(tables.own.tables) == OURS
    assert not any(name.startswith("plimsoll") for name in tables.reference.tables)
