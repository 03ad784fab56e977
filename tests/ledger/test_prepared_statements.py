# SPDX-License-Identifier: Apache-2.0

"""Repeated writes are prepared statements in PostgreSQL, unless a connection pooler mixes up the sessions."""

import contextlib
from typing import Any

import psycopg
import pytest
from sqlalchemy import text

from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.dialects.postgresql import PostgreSQL
from tests.ledger.test_ledger import make_provider
from tests.support.databases import Databases


@pytest.fixture
def sessions(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> list[psycopg.Connection[Any]]:
    """The connections that have written, the last one last."""
    if databases.engine != "postgresql":
        pytest.skip("Only PostgreSQL has prepared statements here.")
    writers: list[psycopg.Connection[Any]] = []
    original = PostgreSQL.execute_for_last_result

    def record(server: PostgreSQL, connection: psycopg.Connection[Any], message: str) -> list[Any]:
        if message.endswith("COMMIT"):
            writers.append(connection)
        return original(server, connection, message)

    monkeypatch.setattr(PostgreSQL, "execute_for_last_result", record)
    return writers


def prepared_statements(session: psycopg.Connection[Any]) -> list[str]:
    rows = session.execute("SELECT statement FROM pg_prepared_statements WHERE name LIKE 'plimsoll_%'")
    found = [row[0] for row in rows]
    session.rollback()
    return found


def test_the_statements_of_a_write_are_prepared_once(
    placement: Placement, sessions: list[psycopg.Connection[Any]]
) -> None:
    make_provider(placement, "first")
    prepared = prepared_statements(sessions[-1])
    assert any("INSERT INTO resource_providers" in statement for statement in prepared)
    make_provider(placement, "second")
    assert prepared_statements(sessions[-1]) == prepared


def test_without_its_prepared_statements_a_session_writes_plain_sql(
    placement: Placement, sessions: list[psycopg.Connection[Any]]
) -> None:
    make_provider(placement, "first")
    sessions[-1].execute("DEALLOCATE ALL")
    sessions[-1].commit()
    second = make_provider(placement, "second")
    third = make_provider(placement, "third")
    assert not prepared_statements(sessions[-1])
    assert [second.name, third.name] == ["second", "third"]
    assert placement.snapshot().world.provider(third.uuid) == third


def test_prepared_statements_survive_a_rollback(
    placement: Placement, database: Database, sessions: list[psycopg.Connection[Any]]
) -> None:
    class RolledBack(Exception):
        pass

    make_provider(placement, "first")
    prepared = prepared_statements(sessions[-1])
    with contextlib.suppress(RolledBack), database.write() as conn:
        for _ in range(10):  # until psycopg would prepare it
            conn.execute(text("SELECT 1"))
        conn.exec_driver_sql("ROLLBACK -- a statement that psycopg has not seen yet")
        raise RolledBack
    make_provider(placement, "second")
    assert prepared
    assert prepared_statements(sessions[-1]) == prepared
