# SPDX-License-Identifier: Apache-2.0

"""The rights that the guide grants are enough to serve, and no more than that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from plimsoll.storage.database import Database
from plimsoll.storage.errors import Refusing
from plimsoll.storage.schema import migrate
from tests.storage import reference
from tests.support.api import Api, api
from tests.support.databases import Databases, ServerDatabases
from tests.takeover import guide
from tests.takeover.cloud import uuid_of

USER = "plimsoll"


@pytest.fixture
def made(databases: Databases) -> Iterator[tuple[ServerDatabases, str]]:
    """A database as the reference made it, on a server that has users."""
    if not isinstance(databases, ServerDatabases):
        pytest.skip("SQLite has no users")
    with databases.fresh("made by the reference", lambda url: reference.manage(url, "db", "sync")) as url:
        drop = (
            f"DROP USER IF EXISTS {USER}"
            if databases.engine == "mariadb"
            else f"DROP OWNED BY {USER}; DROP USER {USER}"
        )
        databases.server.run_sql(f"CREATE USER {USER}")
        try:
            yield databases, url
        finally:
            databases.server.run_sql(*drop.split("; "), database=make_url(url).database)


def grant(databases: ServerDatabases, url: str, step: str) -> None:
    name = make_url(url).database
    statements = [line.replace("placement.*", f"{name}.*") for line in guide.statements(step)]
    databases.server.run_sql(*statements, database=name)


def of_user(url: str) -> str:
    return make_url(url).set(username=USER).render_as_string(hide_password=False)


def serve(service: Api) -> None:
    """What writes to every table that a service writes to."""
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


def test_a_user_with_the_least_rights_can_serve_and_change_no_table(
    made: tuple[ServerDatabases, str],
) -> None:
    databases, url = made
    owner = Database(url)
    migrate.sync(owner)
    owner.dispose()
    grant(databases, url, databases.engine)

    with api(of_user(url)) as service:
        serve(service)

    user = Database(of_user(url))
    with pytest.raises(Refusing), user.change_schema() as connection:
        connection.exec_driver_sql("CREATE TABLE plimsoll_more (id INTEGER)")
    user.dispose()


def test_a_user_with_the_rights_for_it_can_sync(made: tuple[ServerDatabases, str]) -> None:
    databases, url = made
    if databases.engine != "mariadb":
        pytest.skip("the guide tells it for MariaDB alone")
    grant(databases, url, "mariadb")
    grant(databases, url, "mariadb-sync")
    user = Database(of_user(url))
    migrate.sync(user)
    assert migrate.is_current(user)
    user.dispose()
