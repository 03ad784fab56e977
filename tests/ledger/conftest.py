# SPDX-License-Identifier: Apache-2.0

"""Fixtures: a ledger on a real database, on each engine. After every test, memory and SQL must be equal."""

from collections.abc import Iterator

import pytest

from plimsoll.domain.actor import Actor
from plimsoll.fast_paths import FastPaths
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.service import standards
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import integrity
from plimsoll.storage.schema import migrate
from tests.support.databases import Databases

ACTOR = Actor(user="u", project="p", request_id="req-1")


def make_tables(url: str) -> None:
    database = Database(url)
    migrate.sync(database)
    database.dispose()


def make_standards(url: str) -> None:
    """Create the tables, and the standard classes and traits, as after the first start of a service."""
    database = Database(url)
    migrate.sync(database)
    standards.synchronise(Placement(Ledger(database)))
    database.dispose()


@pytest.fixture
def database(databases: Databases, fast_paths: FastPaths) -> Iterator[Database]:
    with databases.fresh("standards", make_standards) as url:
        database = Database(url, fast_paths=fast_paths)
        yield database
        database.dispose()


@pytest.fixture
def placement(database: Database, fast_paths: FastPaths) -> Iterator[Placement]:
    placement = Placement(Ledger(database, fast_paths=fast_paths))
    yield placement
    assert differences(placement.ledger) == []
    with database.read() as conn:
        assert [finding for finding in integrity.verify(conn) if finding.severity == "fault"] == []


@pytest.fixture
def other(placement: Placement, database: Database, fast_paths: FastPaths) -> Placement:
    """A second ledger on the same database, with its own memory like another process."""
    return Placement(Ledger(database, fast_paths=fast_paths))
