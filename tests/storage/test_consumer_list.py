# SPDX-License-Identifier: Apache-2.0

"""A page of consumers reads few rows, whatever the size of the tables and whatever the condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Connection, Table, insert, text

from plimsoll.storage import consumer_list
from plimsoll.storage import tables as t
from plimsoll.storage.consumer_details import consumers_with_allocations
from plimsoll.storage.consumer_list import ConsumerFilter, page_of_uuids
from plimsoll.storage.database import Database
from plimsoll.storage.sql import utc_now
from tests.storage.conftest import create_schema, opened
from tests.support.databases import Databases, open_connection

CONSUMERS = 30_000
HOSTS = 600
LIMIT = 100
NARROW_ROWS, EXAMINED_ROWS = 400, 1_000
"""Smaller than those of the service, as these tables are."""
MAX_READ = 10_000
"""Of 90,000 rows: a walk reads some rows for each consumer that it examines."""

NOW = utc_now().replace(microsecond=0)
SHARED = HOSTS + 1


def uuid(kind: int, number: int) -> str:
    return str(UUID(int=(kind << 120) + number))


def fill(url: str, consumers: int = CONSUMERS) -> None:
    """Write hosts, each with a NUMA node, shared storage, and consumers that are one minute apart."""
    random = Random(1)
    create_schema(url)
    with open_connection(url) as connection:
        _insert(connection, t.projects, ({"id": n, "external_id": f"p{n}"} for n in range(1, 51)))
        _insert(connection, t.users, ({"id": n, "external_id": f"u{n}"} for n in range(1, 51)))
        _insert(connection, t.resource_classes, ({"id": n, "name": f"CUSTOM_{n}"} for n in range(1, 4)))
        kinds = ("INSTANCE", "MIGRATION")
        _insert(connection, t.consumer_types, ({"id": n, "name": name} for n, name in enumerate(kinds, 1)))
        _insert(connection, t.resource_providers, map(_provider, range(1, SHARED + 1)))
        _insert(connection, t.consumers, (_consumer(random, n, consumers) for n in range(1, consumers + 1)))
        _insert(connection, t.allocations, _allocations(connection))
    with open_connection(url) as connection:
        if connection.dialect.name != "postgresql":
            tables = "consumers, allocations" if connection.dialect.name != "sqlite" else ""
            connection.execute(text(f"ANALYZE {'TABLE ' if tables else ''}{tables}"))
        else:
            connection.execute(text("ANALYZE"))


def _insert(connection: Connection, table: Table, rows: Iterator[dict[str, Any]] | Any) -> None:
    listed = list(rows)
    for start in range(0, len(listed), 5_000):
        connection.execute(insert(table), listed[start : start + 5_000])


def _provider(number: int) -> dict[str, Any]:
    # A host with an odd number is the root of the one after it.
    root = number if number % 2 or number == SHARED else number - 1
    return {
        "id": number,
        "uuid": uuid(1, number),
        "name": f"host{number}",
        "generation": 0,
        "root_provider_id": root,
        "parent_provider_id": None if root == number else root,
    }


def _consumer(random: Random, number: int, consumers: int) -> dict[str, Any]:
    """Half of the consumers are of project and user 1; one in 1,000 is a migration, one in 1,000 has no type."""
    kind = {0: 2, 1: None}.get(number % 1_000, 1)
    return {
        "id": number,
        "uuid": str(UUID(int=random.getrandbits(128))),
        "project_id": 1 if number % 2 else 2 + number // 2 % 49,
        "user_id": 1 if number % 2 else 2 + number // 2 % 49,
        "consumer_type_id": kind,
        "generation": 1,
        "created_at": NOW - timedelta(minutes=consumers - number),
    }


def _allocations(connection: Connection) -> Iterator[dict[str, Any]]:
    number = 0
    for row in connection.execute(text("SELECT id, uuid FROM consumers")).all():
        for provider, resource_class in ((row.id % HOSTS + 1, 1), (SHARED, 2)):
            number += 1
            yield {
                "id": number,
                "resource_provider_id": provider,
                "consumer_id": row.uuid,
                "resource_class_id": resource_class,
                "used": 1,
            }


@pytest.fixture(scope="session")
def large_url(databases: Databases) -> Iterator[str]:
    with databases.fresh() as url:
        fill(url)
        yield url


@pytest.fixture
def large(large_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.setattr(consumer_list, "NARROW_ROWS", NARROW_ROWS)
    monkeypatch.setattr(consumer_list, "EXAMINED_ROWS", EXAMINED_ROWS)
    with opened(large_url) as database:
        yield database


def rows_read(connection: Connection, read: Callable[[], object]) -> int:
    """Return how many rows, or entries of an index, the database has read for these queries."""
    match connection.dialect.name:
        case "sqlite":
            return _steps(connection, read) // STEPS_PER_ROW
        case "postgresql":
            counted = "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
        case _:
            counted = (
                "SELECT sum(variable_value) FROM information_schema.session_status"
                " WHERE variable_name LIKE 'HANDLER_READ%'"
            )
    before = connection.scalar(text(counted)) or 0
    read()
    return int((connection.scalar(text(counted)) or 0) - before)


STEPS_PER_ROW = 8
"""Of SQLite's virtual machine, at least, for a row of a walk."""


def _steps(connection: Connection, read: Callable[[], object]) -> int:
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 100
        return 0

    driver: Any = connection.connection.driver_connection
    driver.set_progress_handler(count, 100)
    try:
        read()
    finally:
        driver.set_progress_handler(None, 0)
    return steps


CASES = {
    "all": ConsumerFilter(),
    "large project": ConsumerFilter(project="p1"),
    "small project": ConsumerFilter(project="p7"),
    "project and user": ConsumerFilter(project="p1", user="u1"),
    "project and another user": ConsumerFilter(project="p1", user="u2"),
    "frequent user": ConsumerFilter(user="u1"),
    "rare user": ConsumerFilter(user="u9"),
    "frequent type": ConsumerFilter(type="INSTANCE"),
    "rare type": ConsumerFilter(type="MIGRATION"),
    "no type": ConsumerFilter(is_untyped=True),
    "host": ConsumerFilter(provider=uuid(1, 3)),
    "tree": ConsumerFilter(tree=uuid(1, 3)),
    "shared provider": ConsumerFilter(provider=uuid(1, SHARED)),
    "shared tree": ConsumerFilter(tree=uuid(1, SHARED)),
    "shared provider and rare type": ConsumerFilter(provider=uuid(1, SHARED), type="MIGRATION"),
    "shared provider and small project": ConsumerFilter(provider=uuid(1, SHARED), project="p7"),
    "shared provider and rare user": ConsumerFilter(provider=uuid(1, SHARED), user="u9"),
    "host and project": ConsumerFilter(provider=uuid(1, 3), project="p1"),
    "new": ConsumerFilter(created_since=NOW - timedelta(hours=2)),
    "old": ConsumerFilter(created_before=NOW - timedelta(minutes=CONSUMERS - 90)),
    "most": ConsumerFilter(created_since=NOW - timedelta(minutes=CONSUMERS // 2)),
    "new of a project": ConsumerFilter(project="p1", created_since=NOW - timedelta(hours=2)),
}


@pytest.mark.parametrize("after", ["", "7fffffff-0000-0000-0000-000000000000"], ids=["first", "later"])
@pytest.mark.parametrize("wanted", CASES.values(), ids=CASES.keys())
def test_a_page_reads_few_rows(large: Database, wanted: ConsumerFilter, after: str) -> None:
    with large.read() as connection:

        def read() -> None:
            page = page_of_uuids(connection, wanted, after, LIMIT)
            consumers_with_allocations(connection, page.uuids, str, lambda: None)

        assert rows_read(connection, read) < MAX_READ


def test_the_count_of_rows_includes_a_scan(large: Database) -> None:
    with large.read() as connection:
        scan = text("SELECT count(*) FROM allocations WHERE used + 0 = 2")
        assert rows_read(connection, lambda: connection.execute(scan).all()) > MAX_READ


@pytest.mark.parametrize("wanted", CASES.values(), ids=CASES.keys())
def test_the_pages_have_each_consumer_once(large: Database, wanted: ConsumerFilter) -> None:
    with large.read() as connection:
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = page_of_uuids(connection, wanted, after, 1_000)
            found += page.uuids
            after = page.next
        assert found == sorted(set(found))
        assert len(found) == connection.scalar(text(_COUNTS[_name(wanted)]))


_COUNT = "SELECT count(*) FROM consumers c WHERE "
_ON = (
    "(SELECT count(*) FROM allocations a JOIN resource_providers p ON p.id = a.resource_provider_id"
    " WHERE a.consumer_id = c.uuid AND {}) > 0"
)
_COUNTS = {
    "all": f"{_COUNT} 1 = 1",
    "large project": f"{_COUNT} project_id = 1",
    "small project": f"{_COUNT} project_id = 7",
    "project and user": f"{_COUNT} project_id = 1 AND user_id = 1",
    "project and another user": f"{_COUNT} project_id = 1 AND user_id = 2",
    "frequent user": f"{_COUNT} user_id = 1",
    "rare user": f"{_COUNT} user_id = 9",
    "frequent type": f"{_COUNT} consumer_type_id = 1",
    "rare type": f"{_COUNT} consumer_type_id = 2",
    "no type": f"{_COUNT} consumer_type_id IS NULL",
    "host": _COUNT + _ON.format("p.id = 3"),
    "tree": _COUNT + _ON.format("p.root_provider_id = 3"),
    "shared provider": _COUNT + _ON.format(f"p.id = {SHARED}"),
    "shared tree": _COUNT + _ON.format(f"p.root_provider_id = {SHARED}"),
    "shared provider and rare type": f"{_COUNT} consumer_type_id = 2",
    "shared provider and small project": f"{_COUNT} project_id = 7",
    "shared provider and rare user": f"{_COUNT} user_id = 9",
    "host and project": _COUNT + _ON.format("p.id = 3") + " AND c.project_id = 1",
    "new": f"{_COUNT} id > {CONSUMERS - 121}",
    "old": f"{_COUNT} id < 90",
    "most": f"{_COUNT} id >= {CONSUMERS // 2}",
    "new of a project": f"{_COUNT} id >= {CONSUMERS - 120} AND project_id = 1",
}


def _name(wanted: ConsumerFilter) -> str:
    return next(name for name, each in CASES.items() if each == wanted)
