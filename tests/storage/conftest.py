# SPDX-License-Identifier: Apache-2.0

"""Databases to test on: empty ones, ours, and ones that the reference made."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.storage import migrate
from plimsoll.storage.engine import Database
from tests.storage import reference


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "placement.sqlite"


@pytest.fixture
def empty(file: Path) -> Iterator[Database]:
    """A database of which there is not even a file yet."""
    database = Database(f"sqlite:///{file}")
    yield database
    database.dispose()


@pytest.fixture(scope="session")
def _made_by_us(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ours") / "placement.sqlite"
    database = Database(f"sqlite:///{made}")
    migrate.sync(database)
    database.dispose()
    return made


@pytest.fixture
def db(_made_by_us: Path, file: Path, empty: Database) -> Database:
    """A database with every table and no row but the head."""
    shutil.copy(_made_by_us, file)
    return empty


@pytest.fixture(scope="session")
def _made_by_reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reference") / "placement.sqlite"
    reference.manage(made, "db", "sync")
    return made


@pytest.fixture
def reference_file(_made_by_reference: Path, file: Path) -> Path:
    """A database file as `placement-manage db sync` leaves it."""
    shutil.copy(_made_by_reference, file)
    return file


@pytest.fixture
def reference_db(reference_file: Path, empty: Database) -> Database:
    return empty
