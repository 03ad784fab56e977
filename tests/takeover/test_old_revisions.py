# SPDX-License-Identifier: Apache-2.0

"""`db sync` upgrades databases of every revision since Stein exactly as the reference does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import event

from plimsoll.cli import main
from plimsoll.storage import tables
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from plimsoll.storage.schema.migrate import SchemaError
from plimsoll.storage.tables import REFERENCE_HEAD, REFERENCE_REVISIONS
from tests.storage.schema import dump, rows, table_names
from tests.support.api import api
from tests.support.databases import Databases, run_sql
from tests.takeover import guide
from tests.takeover.cloud import uuid_of
from tests.takeover.revisions import rows as old_rows
from tests.takeover.revisions.reference import ApiRequest, ReferenceFailed, ReferenceProcess

FIRST, BEFORE_HEAD = REFERENCE_REVISIONS[0], REFERENCE_REVISIONS[-2]
SUMMARIES = {
    "611cd6dffd7b": "every provider must have a root",
    "b5c396305c25": "every consumer must have a record",
    "422ece571366": "adds the table consumer_types and its column in consumers",
    "a082b8bb98d0": "drops five indexes that repeat unique constraints",
}
MAX_STATEMENTS = 25

MakeDatabase = Callable[[str], str]
ExpectedTables = Callable[[str], Any]


@pytest.fixture
def at_revision(databases: Databases, reference_process: ReferenceProcess) -> Iterator[MakeDatabase]:
    """Copies of a database that the reference's migrations made, with the rows of a small cloud."""

    def make(url: str, revision: str) -> None:
        reference_process.upgrade(url, revision)
        old_rows.fill(url)

    made: list[str] = []

    def copy(revision: str) -> str:
        made.append(databases.copy(f"revision {revision}", lambda url: make(url, revision)))
        return made[-1]

    yield copy
    for url in made:
        databases.drop(url)


@pytest.fixture
def upgraded_by_reference(
    databases: Databases, at_revision: MakeDatabase, reference_process: ReferenceProcess
) -> MakeDatabase:
    """Copies of such a database after the upgrade with the reference."""

    def copy(revision: str) -> str:
        url = at_revision(revision)
        reference_process.upgrade(url)
        return url

    return copy


@pytest.fixture(scope="session")
def reference_tables() -> dict[tuple[str, str], Any]:
    return {}


@pytest.fixture
def expected_tables(
    databases: Databases, upgraded_by_reference: MakeDatabase, reference_tables: dict[tuple[str, str], Any]
) -> ExpectedTables:
    """Tables and rows after the upgrade with the reference, which runs once per engine and revision."""

    def get(revision: str) -> Any:
        key = databases.engine, revision
        if key not in reference_tables:
            reference_tables[key] = dump(upgraded_by_reference(revision))
        return reference_tables[key]

    return get


@contextmanager
def opened(url: str) -> Iterator[Database]:
    database = Database(url)
    try:
        yield database
    finally:
        database.dispose()


def sync(url: str) -> None:
    with opened(url) as database:
        migrate.sync(database)


def plimsoll(url: str, *arguments: str) -> Result:
    environment = {"OS_PLACEMENT_DATABASE__CONNECTION": url}
    return CliRunner(env=environment).invoke(main, list(arguments))


def check_results(url: str) -> dict[str, tuple[int, str]]:
    done = plimsoll(url, "status", "upgrade", "check", "--json")
    return {each["check"]: (each["result"], each["details"]) for each in json.loads(done.stdout)["checks"]}


def responses(url: str, requests: list[ApiRequest]) -> list[tuple[int, Any]]:
    with api(url) as service:
        sent = [service.get(request.target, request.version) for request in requests]
    return [_response(each.status, each.body.decode()) for each in sent]


def reference_responses(
    process: ReferenceProcess, url: str, requests: list[ApiRequest]
) -> list[tuple[int, Any]]:
    return [_response(status, body) for status, body in process.send(url, requests)]


def _response(status: int, body: str) -> tuple[int, Any]:
    return status, _sorted(json.loads(body)) if body else None


def _sorted(value: Any) -> Any:
    """Neither service defines the order of a list."""
    if isinstance(value, dict):
        return {key: _sorted(content) for key, content in value.items()}
    return sorted(map(_sorted, value), key=json.dumps) if isinstance(value, list) else value


@pytest.mark.parametrize("revision", REFERENCE_REVISIONS)
def test_tables_and_rows_are_those_of_the_references_upgrade(
    at_revision: MakeDatabase, expected_tables: ExpectedTables, revision: str
) -> None:
    url = at_revision(revision)

    sync(url)

    assert dump(url) == expected_tables(revision)
    assert rows(url, "alembic_version") == [{"version_num": REFERENCE_HEAD}]
    assert table_names(url) == {*tables.reference.tables, *tables.own.tables}


@pytest.mark.parametrize("revision", REFERENCE_REVISIONS)
def test_responses_are_those_of_the_reference_and_the_way_back_is_open(
    at_revision: MakeDatabase,
    upgraded_by_reference: MakeDatabase,
    reference_process: ReferenceProcess,
    revision: str,
) -> None:
    ours, theirs, requests = at_revision(revision), upgraded_by_reference(revision), old_rows.requests()
    sync(ours)

    expected = reference_responses(reference_process, theirs, requests)
    assert responses(ours, requests) == expected
    assert {status for status, _ in expected} == {200}

    before = dump(ours)
    reference_process.upgrade(ours)
    assert dump(ours) == before
    claim = {
        "allocations": {uuid_of("host 1"): {"resources": {"VCPU": 1}}},
        "project_id": "project-0",
        "user_id": "user-0",
        "consumer_generation": None,
        "consumer_type": "MIGRATION",
    }
    write = ApiRequest(f"/allocations/{uuid_of('new')}", method="PUT", body=json.dumps(claim))
    written, *after = reference_responses(reference_process, ours, [write, *requests])
    assert written == (204, None)
    changed = {
        request.target for request, old, new in zip(requests, expected, after, strict=True) if old != new
    }
    assert changed >= {"/usages?project_id=project-0", "/resource_providers"}


def test_tables_without_a_record_of_their_revision_are_refused_with_the_command_to_run(
    at_revision: MakeDatabase, expected_tables: ExpectedTables
) -> None:
    """The tables of nova's database were copied without a revision; the reference too needs a stamp."""
    url = at_revision(FIRST)
    run_sql(url, "DROP TABLE alembic_version")
    before = dump(url)

    done = plimsoll(url, "db", "sync")

    assert done.exit_code == 1
    assert (
        f"(OpenStack Stein, or tables that were copied from nova's database). If they are, run `plimsoll db stamp {FIRST}`"
        in done.output
    )
    assert dump(url) == before
    assert plimsoll(url, "db", "stamp", FIRST).exit_code == 0
    assert plimsoll(url, "db", "sync").exit_code == 0
    assert dump(url) == expected_tables(FIRST)


@pytest.mark.parametrize("revision", [FIRST, BEFORE_HEAD, REFERENCE_HEAD])
def test_the_revision_of_tables_without_a_record_is_found(at_revision: MakeDatabase, revision: str) -> None:
    url = at_revision(revision)
    run_sql(url, "DELETE FROM alembic_version")
    with pytest.raises(SchemaError, match=f"`plimsoll db stamp {revision}`"):
        sync(url)


def test_old_tables_without_rows_and_without_a_record_are_not_taken_for_new_ones(
    databases: Databases, reference_process: ReferenceProcess
) -> None:
    with databases.fresh() as url:
        reference_process.upgrade(url, FIRST)
        run_sql(url, "DELETE FROM alembic_version")
        with pytest.raises(SchemaError, match=f"`plimsoll db stamp {FIRST}`"):
            sync(url)


def test_incomplete_rows_stop_the_upgrade_as_they_do_in_the_reference(
    at_revision: MakeDatabase, reference_process: ReferenceProcess
) -> None:
    ours, theirs = at_revision(FIRST), at_revision(FIRST)
    for url in (ours, theirs):
        old_rows.make_incomplete(url)
    before = dump(ours, with_ours=True)

    with pytest.raises(ReferenceFailed, match="online_data_migrations"):
        reference_process.upgrade(theirs)
    done = plimsoll(ours, "db", "sync")
    assert done.exit_code == 1
    problems = "cannot be upgraded yet: 1 providers have no root and 1 consumers have no record"
    assert problems in done.output
    assert check_results(ours)["Placement Schema"] == (2, done.output.removeprefix("Error: ").strip())
    assert dump(ours, with_ours=True) == before

    reference_process.migrate_data(theirs)
    reference_process.upgrade(theirs)
    assert plimsoll(ours, "db", "online_data_migrations").exit_code == 0
    assert plimsoll(ours, "db", "sync").exit_code == 0
    assert _without_times(dump(ours)) == _without_times(dump(theirs))
    requests = old_rows.requests()
    assert responses(ours, requests) == reference_responses(reference_process, theirs, requests)


def _without_times(tables: dict[str, Any]) -> dict[str, Any]:
    """The data migrations write the current time."""
    return {
        name: {
            **table,
            "rows": [
                {key: value for key, value in row.items() if not key.endswith("_at")} for row in table["rows"]
            ],
        }
        for name, table in tables.items()
    }


def test_incomplete_rows_do_not_stop_an_upgrade_from_a_revision_that_allows_them(
    at_revision: MakeDatabase,
) -> None:
    """They were written after the check of the reference; at its last revision they are accepted too."""
    url = at_revision(BEFORE_HEAD)
    old_rows.make_incomplete(url)
    sync(url)
    assert rows(url, "alembic_version") == [{"version_num": REFERENCE_HEAD}]


def test_an_interrupted_upgrade_leaves_the_old_state_or_continues(
    databases: Databases, at_revision: MakeDatabase, expected_tables: ExpectedTables
) -> None:
    """Interrupt after each statement that changes Placement's tables, and run again."""
    url = at_revision(FIRST)
    before, is_transactional = dump(url, with_ours=True), databases.engine != "mariadb"
    interruptions = 0
    # MariaDB commits each statement, so each run gets one further.
    while interruptions < MAX_STATEMENTS and _is_interrupted(
        url, after=interruptions + 1 if is_transactional else 1
    ):
        interruptions += 1
        if is_transactional:
            assert dump(url, with_ours=True) == before
    # A table, a column, its key and its index, and five indexes; SQLite copies a table.
    assert 9 <= interruptions < MAX_STATEMENTS
    assert dump(url) == expected_tables(FIRST)
    with opened(url) as database:
        assert migrate.is_current(database)


def _is_interrupted(url: str, after: int) -> bool:
    """Run `sync` until this many statements have changed tables; return whether it was interrupted."""
    executed = 0

    def count(_: Any, __: Any, statement: str, *___: Any) -> None:
        nonlocal executed
        is_change = statement.split()[0] in ("CREATE", "ALTER", "DROP")
        if is_change and "plimsoll_" not in statement:
            executed += 1
            if executed == after:
                raise InterruptedError

    with opened(url) as database:
        with database.read() as connection:
            event.listen(connection.engine, "after_cursor_execute", count)
        try:
            migrate.sync(database)
        except InterruptedError:
            return True
        return False


def test_processes_can_upgrade_at_the_same_time(
    at_revision: MakeDatabase, expected_tables: ExpectedTables
) -> None:
    url = at_revision(FIRST)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sync, [url] * 4))
    assert dump(url) == expected_tables(FIRST)


@pytest.mark.parametrize("revision", REFERENCE_REVISIONS[:-1])
def test_the_check_lists_the_steps_and_changes_nothing(at_revision: MakeDatabase, revision: str) -> None:
    url = at_revision(revision)
    before = dump(url, with_ours=True)

    found = check_results(url)

    code, details = found["Placement Schema"]
    assert code == 0
    assert details.startswith(
        f"It is at revision {revision}, of an older release. `plimsoll db sync` upgrades it in "
    )
    pending = REFERENCE_REVISIONS[REFERENCE_REVISIONS.index(revision) + 1 :]
    assert details.endswith("; ".join(f"{each}: {SUMMARIES[each]}" for each in pending) + ".")
    assert [check for check, (result, _) in found.items() if result > 0] == ["Contradicting Rows"]
    assert "resource_class_id names a row" in found["Contradicting Rows"][1], "of a standard class"
    assert "6 providers with" in found["Size"][1]
    if revision == "b5c396305c25":
        (printed,) = guide.cells(guide.printed("older")).values()
        assert details.replace(" ", "") in printed
    assert dump(url, with_ours=True) == before


def test_commands_and_the_service_name_the_command_to_run(at_revision: MakeDatabase) -> None:
    url = at_revision(FIRST)
    assert plimsoll(url, "db", "version").output == f"{FIRST}\n"
    verified = plimsoll(url, "db", "verify")
    assert "start it once and verify again" in " ".join(verified.output.split())
    with (
        opened(url) as database,
        pytest.raises(SchemaError, match=f"is at revision {FIRST} .* Run `plimsoll db sync`"),
    ):
        migrate.require_current(database)
