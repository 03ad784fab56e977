# SPDX-License-Identifier: Apache-2.0

"""The database rights of docs/guides/hardening.md are sufficient to create the tables and to serve, and all are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault, NotWritable
from plimsoll.storage.maintenance import foreign_writes
from tests.support.api import api
from tests.support.databases import Databases, ServerDatabases
from tests.takeover.test_rights import write_to_every_table

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "hardening.md"
OWNER, SERVICE = "plimsoll_owner", "plimsoll_service"


def statements(name: str) -> list[str]:
    found = re.findall(rf"^```sql {name}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"the page has {len(found)} blocks {name!r}"
    return [line.strip() for line in found[0].split(";") if line.strip()]


class Site:
    """An empty database, and the accounts of the page."""

    def __init__(self, databases: ServerDatabases, url: str) -> None:
        self._url = url
        self._name = make_url(url).database or ""
        self._server = databases.server
        self.engine = databases.engine

    def run(self, *lines: str) -> None:
        ours = [line.replace("placement.*", f"{self._name}.*") for line in lines]
        self._server.run_sql(*ours, database=self._name)

    def grant(self, step: str) -> None:
        self.run(*statements(f"{self.engine}-{step}"))

    def rights(self, account: str) -> list[str]:
        """Return the rights on tables that the page grants to an account."""
        step = "owner" if account == OWNER else "service"
        granted = " ".join(statements(f"{self.engine}-{step}"))
        (listed,) = re.findall(r"GRANT (SELECT.*?) ON", granted)
        return str(listed).split(", ")

    def revoke(self, right: str, account: str) -> None:
        tables = "placement.*" if self.engine == "mariadb" else "ALL TABLES IN SCHEMA public"
        self.run(f"REVOKE {right} ON {tables} FROM {account}")

    def as_account(self, account: str) -> str:
        password = "secret-1" if account == OWNER else "secret-2"
        url = make_url(self._url).set(username=account, password=password)
        return url.render_as_string(hide_password=False)

    def sync(self, account: str = OWNER) -> None:
        """Do the same as `plimsoll db sync`."""
        database = Database(self.as_account(account))
        try:
            foreign_writes.take_over(database)
        finally:
            database.dispose()

    def write_to_every_table(self) -> None:
        with api(self.as_account(SERVICE), placement_database__sync_on_startup=False) as service:
            write_to_every_table(service)

    def forget(self) -> None:
        if self.engine == "mariadb":
            self._server.run_sql(*(f"DROP USER IF EXISTS {account}" for account in (OWNER, SERVICE)))
        else:
            there = self._server.run_sql("SELECT rolname FROM pg_roles WHERE rolname LIKE 'plimsoll_%'")
            for (account,) in sorted(there, reverse=True):
                self.run(f"DROP OWNED BY {account}", f"DROP ROLE {account}")


@pytest.fixture
def site(databases: Databases) -> Iterator[Site]:
    if not isinstance(databases, ServerDatabases):
        pytest.skip("SQLite has no accounts")
    with databases.fresh() as url:
        site = Site(databases, url)
        try:
            yield site
        finally:
            site.forget()


def test_one_account_creates_the_tables_and_the_other_can_only_serve(site: Site) -> None:
    site.grant("owner")
    site.grant("service")
    with pytest.raises(NotWritable):
        site.sync(SERVICE)
    site.sync()
    if site.engine == "postgresql":
        site.grant("versions")
    site.write_to_every_table()


def test_no_right_of_the_service_is_one_too_many(site: Site) -> None:
    site.grant("owner")
    site.grant("service")
    site.sync()
    for right in site.rights(SERVICE):
        site.revoke(right, SERVICE)
        with pytest.raises((AssertionError, DatabaseFault)):
            site.write_to_every_table()
        restored = "placement.*" if site.engine == "mariadb" else "ALL TABLES IN SCHEMA public"
        site.run(f"GRANT {right} ON {restored} TO {SERVICE}")


def test_no_right_of_the_owner_is_one_too_many(databases: Databases) -> None:
    if databases.engine != "mariadb" or not isinstance(databases, ServerDatabases):
        pytest.skip("on PostgreSQL the owner has one right, to make tables")
    rights = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "INDEX")
    for right in rights:
        with databases.fresh() as url:
            site = Site(databases, url)
            try:
                site.grant("owner")
                assert tuple(site.rights(OWNER)) == rights
                site.revoke(right, OWNER)
                with pytest.raises(DatabaseFault):
                    site.sync()
            finally:
                site.forget()
