# SPDX-License-Identifier: Apache-2.0

"""The API on a database of its own for each test."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.api import DATABASE, Api, api


@pytest.fixture(scope="session")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database as it is after the first start; each test gets a copy of it."""
    directory = tmp_path_factory.mktemp("new")
    with api(directory):
        pass
    with closing(sqlite3.connect(directory / DATABASE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return directory / DATABASE


@pytest.fixture
def client(tmp_path: Path, new_database: Path) -> Iterator[Api]:
    shutil.copy(new_database, tmp_path / DATABASE)
    with api(tmp_path) as client:
        yield client
