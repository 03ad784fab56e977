# SPDX-License-Identifier: Apache-2.0

"""Fixtures: databases of each engine, either empty, with our schema, or created by the reference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.storage import reference
from tests.support.databases import Databases


@contextmanager
def opened(url: str, fast_paths: FastPaths = ALL) -> Iterator[Database]:
    database = Database(url, fast_paths=fast_paths)
    try:
        yield database
    finally:
        database.dispose()


def create_schema(url: str) -> None:
    with opened(url) as database:
        migrate.sync(database)


@pytest.fixture
def empty_url(databases: Databases) -> Iterator[str]:
    with databases.fresh() as url:
        yield url


@pytest.fixture
def empty(empty_url: str) -> Iterator[Database]:
    """A database without tables; on SQLite the file does not exist yet."""
    with opened(empty_url) as database:
        yield database


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("ours", create_schema) as url:
        yield url


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    """A database with all tables and no row except the head."""
    with opened(url) as database:
        yield database


@pytest.fixture
def reference_url(databases: Databases) -> Iterator[str]:
    """A database as `placement-manage db sync` leaves it."""
    with databases.fresh("reference", lambda url: reference.manage(url, "db", "sync")) as url:
        yield url


@pytest.fixture
def reference_db(reference_url: str) -> Iterator[Database]:
    with opened(reference_url) as database:
        yield database
