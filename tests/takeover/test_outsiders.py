# SPDX-License-Identifier: Apache-2.0

"""Writes behind the change log: they are noticed, running workers are told of them once, and our own are none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from plimsoll.cli import main
from plimsoll.storage.database import Database
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
    """A worker on a database that the reference has made, to which it has written itself."""
    with api(url) as service:
        service.host(HOST, "ours", VCPU=8)
        yield service


def _make(url: str) -> None:
    reference.manage(url, "db", "sync")


def change_by_hand(url: str, ahead: timedelta = timedelta(seconds=5)) -> None:
    """As the reference would, some seconds later."""
    later = (datetime.now(UTC) + ahead).replace(tzinfo=None, microsecond=0)
    run_sql(
        url,
        f"UPDATE resource_providers SET name = 'theirs', generation = 7, updated_at = '{later}'"
        f" WHERE uuid = '{HOST}'",
    )


def found(service: Api) -> foreign_writes.ForeignWrites | None:
    with service.database.read() as connection:
        return foreign_writes.find(connection)


def name(service: Api) -> str:
    said: str = service.get(f"/resource_providers/{HOST}").json["name"]
    return said


def test_our_own_writes_are_not_taken_for_those_of_others(service: Api, url: str) -> None:
    assert found(service) is None
    run_sql(url, f"UPDATE resource_providers SET root_provider_id = NULL WHERE uuid = '{HOST}'")
    assert (
        data_migrations.run_batch(
            service.database, 100, data_migrations.MigrationSettings("project", "user")
        ).failures
        == {}
    )
    assert service.put("/traits/CUSTOM_NEW").status == 201
    assert found(service) is None
    assert not foreign_writes.tell_workers(service.database)


def test_a_worker_that_has_run_all_the_while_is_told_of_it(service: Api, url: str) -> None:
    change_by_hand(url)
    assert found(service) is not None
    assert name(service) == "ours", "nobody has told it"
    assert foreign_writes.tell_workers(service.database)
    assert name(service) == "theirs"


def test_it_is_told_once_also_if_their_clock_is_ahead(service: Api, url: str) -> None:
    change_by_hand(url, ahead=timedelta(hours=1))
    assert foreign_writes.tell_workers(service.database)
    assert found(service) is None
    assert not foreign_writes.tell_workers(service.database)


def test_before_our_first_change_there_is_nothing_to_be_behind(url: str) -> None:
    """A database that was just taken over is full of rows of others; that is no news."""
    reference.fill(url)
    run_sql(url, "UPDATE resource_providers SET updated_at = '2126-01-02 03:04:05'")
    database = Database(url)
    migrate.sync(database)
    with database.read() as connection:
        assert foreign_writes.find(connection) is None
    database.dispose()


def test_sync_tells_the_workers(service: Api, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change_by_hand(url)
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", url)
    done = CliRunner().invoke(main, ["db", "sync"])
    said = name(service)
    assert (done.exit_code, done.output, said) == (0, "", "theirs")
