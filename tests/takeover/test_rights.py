# SPDX-License-Identifier: Apache-2.0

"""The privileges that the guide grants are sufficient to serve, and not more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import make_url

from plimsoll.storage.database import Database
from plimsoll.storage.errors import NotWritable
from plimsoll.storage.schema import migrate
from plimsoll.storage.tables import REFERENCE_REVISIONS
from tests.storage import reference
from tests.support.api import Api, api
from tests.support.databases import Databases, ServerDatabases
from tests.takeover import guide
from tests.takeover.cloud import uuid_of
from tests.takeover.revisions.reference import ReferenceProcess

USER = "plimsoll"


@pytest.fixture
def reference_database(databases: Databases) -> Iterator[tuple[ServerDatabases, str]]:
    """A database created by the reference, on a server that has users."""
    if not isinstance(databases, ServerDatabases):
        pytest.skip("SQLite has no users")
    with (
        databases.fresh("made by the reference", lambda url: reference.manage(url, "db", "sync")) as url,
        user_of(databases, url),
    ):
        yield databases, url


@contextmanager
def user_of(databases: ServerDatabases, url: str) -> Iterator[None]:
    drop = (
        f"DROP USER IF EXISTS {USER}"
        if databases.engine == "mariadb"
        else f"DROP OWNED BY {USER}; DROP USER {USER}"
    )
    databases.server.run_sql(f"CREATE USER {USER}")
    try:
        yield
    finally:
        databases.server.run_sql(*drop.split("; "), database=make_url(url).database)


def grant(databases: ServerDatabases, url: str, step: str) -> None:
    name = make_url(url).database
    statements = [line.replace("placement.*", f"{name}.*") for line in guide.statements(step)]
    databases.server.run_sql(*statements, database=name)


def url_of_user(url: str) -> str:
    return make_url(url).set(username=USER).render_as_string(hide_password=False)


def write_to_every_table(service: Api) -> None:
    """Send writes that change every table that a service writes to."""
    for path in ("/traits/CUSTOM_NEW", "/resource_classes/CUSTOM_NEW"):
        assert service.put(path).status == 201
    host = service.host(uuid_of("host"), CUSTOM_NEW=8)
    path = f"/resource_providers/{host}"
    body = {"resource_provider_generation": 1, "traits": ["CUSTOM_NEW"]}
    assert service.put(f"{path}/traits", body).status == 200
    body = {"resource_provider_generation": 2, "aggregates": [uuid_of("rack")]}
    assert service.put(f"{path}/aggregates", body).status == 200
    claim = {
        "allocations": {host: {"resources": {"CUSTOM_NEW": 1}}},
        "project_id": "new project",
        "user_id": "new user",
        "consumer_generation": None,
        "consumer_type": "NEW",
    }
    consumer = f"/allocations/{uuid_of('consumer')}"
    assert service.put(consumer, claim).status == 204
    assert service.delete(consumer).status == 204
    assert service.delete(path).status == 204
    for path in ("/traits/CUSTOM_NEW", "/resource_classes/CUSTOM_NEW"):
        assert service.delete(path).status == 204


def test_a_user_with_the_least_privileges_can_serve_and_cannot_create_tables(
    reference_database: tuple[ServerDatabases, str],
) -> None:
    databases, url = reference_database
    owner = Database(url)
    migrate.sync(owner)
    owner.dispose()
    grant(databases, url, databases.engine)

    with api(url_of_user(url)) as service:
        write_to_every_table(service)

    user = Database(url_of_user(url))
    with pytest.raises(NotWritable), user.change_schema() as transaction:
        transaction.connection.exec_driver_sql("CREATE TABLE plimsoll_more (id INTEGER)")
    user.dispose()


def test_a_user_with_the_privileges_for_sync_can_sync(
    reference_database: tuple[ServerDatabases, str],
) -> None:
    databases, url = reference_database
    if databases.engine != "mariadb":
        pytest.skip("the guide has this step for MariaDB only")
    grant(databases, url, "mariadb")
    grant(databases, url, "mariadb-sync")
    sync_as_user(url)


def test_a_user_with_the_privileges_for_an_upgrade_can_upgrade(
    databases: Databases, reference_process: ReferenceProcess
) -> None:
    if not isinstance(databases, ServerDatabases) or databases.engine != "mariadb":
        pytest.skip("the guide has this step for MariaDB only")
    with databases.fresh() as url, user_of(databases, url):
        reference_process.upgrade(url, REFERENCE_REVISIONS[0])
        for step in ("mariadb", "mariadb-sync", "mariadb-upgrade"):
            grant(databases, url, step)
        sync_as_user(url)


def sync_as_user(url: str) -> None:
    user = Database(url_of_user(url))
    migrate.sync(user)
    assert migrate.is_current(user)
    user.dispose()
