# SPDX-License-Identifier: Apache-2.0

"""Each kind of database fault has its own text, and its own advice in the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from sqlalchemy import URL, make_url

from plimsoll.storage.database import Database, DatabaseOptions
from plimsoll.storage.errors import (
    DatabaseFault,
    NoSuchDatabase,
    NotPermitted,
    ReadOnly,
    TooManyConnections,
    Unreachable,
)
from tests.storage.conftest import create_schema, opened
from tests.storage.writers import locked_write
from tests.support.databases import Databases, need, run_sql
from tests.support.servers import MariaDB, PostgreSQL, Server
from tests.support.servers.places import free_port


@pytest.fixture
def place(databases: Databases, url: str) -> URL:
    if databases.engine == "sqlite":
        pytest.skip("SQLite has no server")
    return make_url(url)


@contextmanager
def open_without_retries(url: URL) -> Iterator[Database]:
    """Open a database that does not retry its first connection."""
    database = Database(url.render_as_string(hide_password=False), DatabaseOptions(max_retries=0))
    try:
        yield database
    finally:
        database.dispose()


def connection_fault(url: URL) -> DatabaseFault:
    with open_without_retries(url) as database, pytest.raises(DatabaseFault) as raised:
        database.head()
    return raised.value


def test_an_unknown_database(place: URL, caplog: pytest.LogCaptureFixture) -> None:
    fault = connection_fault(place.set(database="nowhere"))
    assert type(fault) is NoSuchDatabase
    assert "There is no such database." in caplog.text
    assert "/nowhere" in caplog.text
    assert "Correct the name in [placement_database]connection" in caplog.text


def test_a_user_without_access(place: URL, caplog: pytest.LogCaptureFixture) -> None:
    fault = connection_fault(place.set(username="unknown_user", password="secret"))
    assert type(fault) is NotPermitted
    assert "'unknown_user'" in caplog.text
    assert "Check the user, the password and the rights" in caplog.text
    assert "secret" not in caplog.text


def test_a_port_without_a_server(place: URL, caplog: pytest.LogCaptureFixture) -> None:
    assert type(connection_fault(place.set(port=free_port()))) is Unreachable
    assert "Check that the server runs" in caplog.text


def test_a_read_only_database(databases: Databases, url: str) -> None:
    if databases.engine != "postgresql":
        pytest.skip("the user of the tests may write to a read-only MariaDB; SQLite: see test_database.py")
    name = make_url(url).database
    run_sql(url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    with opened(url) as database, pytest.raises(ReadOnly), locked_write(database):
        pass


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (PostgreSQL, {"max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0"}),
        (MariaDB, {"max-connections": "10"}),
    ],
)
def test_a_server_without_a_free_connection(kind: type[Server], settings: dict[str, str]) -> None:
    need(kind)
    with kind(durable=False, settings=settings) as server, ExitStack() as held:
        server.create_database("placement")
        create_schema(server.url("placement"))
        with pytest.raises(Exception, match=r"(?i)too many|already|reserved"):
            for _ in range(20):
                held.callback(server.connect().close)
        assert type(connection_fault(make_url(server.url("placement")))) is TooManyConnections
