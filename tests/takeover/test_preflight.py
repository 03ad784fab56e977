# SPDX-License-Identifier: Apache-2.0

"""The facts behind the check before a takeover, where they differ between engines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection

from plimsoll.cli import main
from plimsoll.storage.database import Database
from plimsoll.storage.maintenance import preflight
from tests.storage import reference
from tests.support.databases import Databases, run_sql


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("made by the reference", lambda url: reference.manage(url, "db", "sync")) as url:
        reference.fill(url)
        yield url


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.dispose()


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    with database.read() as connection:
        yield connection


def check_results(url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, str]]:
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", url)
    done = CliRunner().invoke(main, ["status", "upgrade", "check", "--json"])
    return {each["check"]: (each["result"], each["details"]) for each in json.loads(done.stdout)["checks"]}


def only_on(databases: Databases, *engines: str) -> None:
    if databases.engine not in engines:
        pytest.skip(f"does not apply to {databases.engine}")


def test_the_server_is_named_with_its_version(connection: Connection, databases: Databases) -> None:
    server = preflight.server(connection)
    names = {"sqlite": "SQLite", "postgresql": "PostgreSQL", "mariadb": "MariaDB"}
    assert server.name == names[databases.engine]
    assert int(server.version.partition(".")[0]) >= 3
    assert not server.is_galera


def test_rows_are_counted(connection: Connection) -> None:
    assert preflight.size(connection) == preflight.Size(12, 12, 0, 14)


def test_a_new_database_of_the_reference_has_no_findings(connection: Connection, database: Database) -> None:
    assert preflight.non_transactional_tables(connection) == []
    assert preflight.mixed_collations(connection) == {}
    assert preflight.unnamed_providers(connection) == []
    assert preflight.colliding_names(connection, database.semantics()) == []


def test_a_server_that_is_too_old_is_a_failure_and_stops_the_checks(
    url: str, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_on(databases, "postgresql", "mariadb")
    monkeypatch.setattr("plimsoll.storage.dialects.postgresql.MIN_VERSION", 99)
    monkeypatch.setattr("plimsoll.storage.dialects.mysql.MIN_MARIADB_VERSION", (99, 0))
    found = check_results(url, monkeypatch)
    assert list(found) == ["Settings", "Database", "Policy File JSON to YAML Migration"]
    assert found["Database"][0] == 2
    assert "Plimsoll needs" in found["Database"][1]


def test_tables_without_transactions_are_a_failure(
    url: str, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_on(databases, "mariadb")
    run_sql(url, "ALTER TABLE users ENGINE = MyISAM", "ALTER TABLE projects ENGINE = MyISAM")
    code, details = check_results(url, monkeypatch)["Database"]
    assert code == 2
    assert "would be stored in part: projects, users. Run `ALTER TABLE <table> ENGINE = InnoDB`" in details


def test_names_that_only_the_database_distinguishes_are_a_warning(
    url: str, databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_on(databases, "mariadb")
    run_sql(
        url,
        "ALTER TABLE resource_providers MODIFY name VARCHAR(200) COLLATE utf8mb4_bin",
        "UPDATE resource_providers SET name = 'NAME 1' WHERE id = 2",
    )
    code, details = check_results(url, monkeypatch)["Names"]
    assert code == 1
    assert "utf8mb4_bin: resource_providers.name" in details
    assert "treated as equal: 'name 1' in resource_providers, 'NAME 1' in resource_providers." in details
