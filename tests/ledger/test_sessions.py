# SPDX-License-Identifier: Apache-2.0

"""Sessions of PostgreSQL know by name what is said to them over and over, unless somebody in between mixes them up."""

import contextlib
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.dialects.postgresql import PostgreSQL
from tests.ledger.test_ledger import make
from tests.support.databases import Databases


@pytest.fixture
def sessions(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> list[psycopg.Connection[Any]]:
    """Those that have written, the last one last."""
    if databases.engine != "postgresql":
        pytest.skip("Only PostgreSQL is told statements by name.")
    seen: list[psycopg.Connection[Any]] = []
    say = PostgreSQL.last_answer

    def noted(server: PostgreSQL, connection: psycopg.Connection[Any], message: str) -> list[Any]:
        if message.endswith("COMMIT"):
            seen.append(connection)
        return say(server, connection, message)

    monkeypatch.setattr(PostgreSQL, "last_answer", noted)
    return seen


def names(session: psycopg.Connection[Any]) -> list[str]:
    rows = session.execute("SELECT statement FROM pg_prepared_statements WHERE name LIKE 'plimsoll_%'")
    found = [row[0] for row in rows]
    session.rollback()
    return found


def test_a_write_is_read_once(placement: Placement, sessions: list[psycopg.Connection[Any]]) -> None:
    make(placement, "first")
    known = names(sessions[-1])
    assert any("INSERT INTO resource_providers" in statement for statement in known)
    make(placement, "second")
    assert names(sessions[-1]) == known


def test_names_that_another_session_was_given_are_done_without(
    placement: Placement, sessions: list[psycopg.Connection[Any]]
) -> None:
    make(placement, "first")
    sessions[-1].execute("DEALLOCATE ALL")
    sessions[-1].commit()
    second = make(placement, "second")
    third = make(placement, "third")
    assert not names(sessions[-1])
    assert [second.name, third.name] == ["second", "third"]
    assert placement.snapshot().world.provider(third.uuid) == third


def test_names_outlive_a_transaction_that_is_taken_back(
    placement: Placement, database: Database, sessions: list[psycopg.Connection[Any]]
) -> None:
    class TakenBack(Exception):
        pass

    make(placement, "first")
    known = names(sessions[-1])
    with contextlib.suppress(TakenBack), database.write() as conn:
        for _ in range(10):  # until psycopg would give it a name
            conn.execute(text("SELECT 1"))
        conn.exec_driver_sql("ROLLBACK -- in words that it has not seen yet")
        raise TakenBack
    make(placement, "second")
    assert known
    assert names(sessions[-1]) == known
