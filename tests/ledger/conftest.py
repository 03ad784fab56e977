# SPDX-License-Identifier: Apache-2.0

"""A ledger on a real SQLite file; after every test, memory and SQL must agree."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.domain.actor import Actor
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.service import standards
from plimsoll.service.placement import Placement
from plimsoll.storage import checks, migrate
from plimsoll.storage.engine import Database

SOMEBODY = Actor(user="u", project="p", request_id="req-1")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(f"sqlite:///{tmp_path}/plimsoll.sqlite")
    migrate.sync(database)
    yield database
    database.dispose()


@pytest.fixture
def placement(database: Database) -> Iterator[Placement]:
    placement = Placement(Ledger(database))
    standards.synchronise(placement)
    yield placement
    assert differences(placement.ledger) == []
    with database.read() as conn:
        assert [finding for finding in checks.verify(conn) if finding.severity == "fault"] == []


@pytest.fixture
def other(placement: Placement, database: Database) -> Placement:
    """A second process on the same database, as far as memory is concerned."""
    return Placement(Ledger(database))
