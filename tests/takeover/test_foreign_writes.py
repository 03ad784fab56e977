# SPDX-License-Identifier: Apache-2.0

"""Writes that are not in the change log are detected, and running workers reload once; our own writes are none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from plimsoll.cli import main
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.maintenance import data_migrations, foreign_writes
from plimsoll.storage.schema import migrate
from tests.storage import reference
from tests.support.api import Api, api
from tests.support.databases import Databases, run_sql
from tests.takeover.cloud import uuid_of

HOST = uuid_of("host")


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.fresh("made by the reference", _make) as url:
        yield url


@pytest.fixture
def service(url: str) -> Iterator[Api]:
    """A worker that has written to a database created by the reference."""
    with api(url) as service:
        service.host(HOST, "ours", VCPU=8)
        yield service


def _make(url: str) -> None:
    reference.manage(url, "db", "sync")


def write_as_reference(url: str, ahead: timedelta = timedelta(seconds=5)) -> None:
    """Update a provider as the reference does, some seconds in the future."""
    later = (datetime.now(UTC) + ahead).replace(tzinfo=None, microsecond=0)
    run_sql(
        url,
        f"UPDATE resource_providers SET name = 'theirs', generation = 7, updated_at = '{later}'"
        f" WHERE uuid = '{HOST}'",
    )


def find_foreign_writes(service: Api) -> foreign_writes.ForeignWrites | None:
    with service.database.read() as connection:
        return foreign_writes.find(connection)


def read_name(service: Api) -> str:
    name: str = service.get(f"/resource_providers/{HOST}").json["name"]
    return name


def test_our_own_writes_are_not_foreign(service: Api, url: str) -> None:
    assert find_foreign_writes(service) is None
    run_sql(url, f"UPDATE resource_providers SET root_provider_id = NULL WHERE uuid = '{HOST}'")
    assert (
        data_migrations.run_batch(
            service.database, 100, data_migrations.MigrationSettings("project", "user")
        ).failures
        == {}
    )
    assert service.put("/traits/CUSTOM_NEW").status == 201
    assert find_foreign_writes(service) is None
    assert not foreign_writes.reload_workers(service.database)


def test_a_running_worker_reloads_after_a_foreign_write(service: Api, url: str) -> None:
    write_as_reference(url)
    assert find_foreign_writes(service) is not None
    assert read_name(service) == "ours", "no reload yet"
    assert foreign_writes.reload_workers(service.database)
    assert read_name(service) == "theirs"


def test_workers_reload_once_also_if_the_other_clock_is_ahead(service: Api, url: str) -> None:
    write_as_reference(url, ahead=timedelta(hours=1))
    assert foreign_writes.reload_workers(service.database)
    assert find_foreign_writes(service) is None
    assert not foreign_writes.reload_workers(service.database)


def test_rows_before_our_first_change_are_not_foreign_writes(url: str) -> None:
    """In a database that was just taken over, all rows are from another program."""
    reference.fill(url)
    run_sql(url, "UPDATE resource_providers SET updated_at = '2126-01-02 03:04:05'")
    database = Database(url)
    migrate.sync(database)
    with database.read() as connection:
        assert foreign_writes.find(connection) is None
    database.dispose()


def test_sync_makes_workers_reload(service: Api, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_as_reference(url)
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", url)
    done = CliRunner().invoke(main, ["db", "sync"])
    assert (done.exit_code, done.output, read_name(service)) == (0, "", "theirs")


def test_a_conflict_with_another_service_that_starts_is_retried(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conflicts = [Busy("a deadlock"), Busy("a deadlock")]
    sync = migrate.sync

    def conflict_at_first(database: Database) -> None:
        if conflicts:
            raise conflicts.pop()
        sync(database)

    monkeypatch.setattr(migrate, "sync", conflict_at_first)
    database = Database(url)
    try:
        foreign_writes.take_over(database)
        assert migrate.is_current(database)
    finally:
        database.dispose()


def test_a_conflict_is_not_retried_without_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def conflict(_: Database) -> None:
        raise Busy("a deadlock")

    monkeypatch.setattr(migrate, "sync", conflict)
    monkeypatch.setattr(foreign_writes, "CONFLICT_RETRY_SECONDS", 0.2)
    database = Database(url)
    try:
        with pytest.raises(Busy):
            foreign_writes.take_over(database)
    finally:
        database.dispose()
