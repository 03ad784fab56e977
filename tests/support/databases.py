# SPDX-License-Identifier: Apache-2.0

"""Fresh databases to test on, on each engine that is here: SQLite always, the servers where they are installed.

PLIMSOLL_TEST_DB chooses: `sqlite`, `postgresql` or `mariadb` for one of them, `all` for all three, which then
have to be here; without it, all that are here. A test gets a database of its own. A database as something
left it (our migrations, the reference's) is made once, and copied for each test that wants one like it.
"""

from __future__ import annotations

import abc
import itertools
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

import pytest
from sqlalchemy import (
    Connection,
    Engine,
    MetaData,
    NullPool,
    create_engine,
    delete,
    insert,
    make_url,
    select,
    text,
)

from tests.support.servers import GaleraCluster, MariaDB, Missing, PostgreSQL, Server

VARIABLE = "PLIMSOLL_TEST_DB"
SERVERS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
ENGINES = ("sqlite", *SERVERS)


def left_out() -> dict[str, str]:
    """The engines that tests do not run on, and why not."""
    choice = os.environ.get(VARIABLE, "")
    if choice in ENGINES:
        return {engine: f"{VARIABLE}={choice}" for engine in ENGINES if engine != choice}
    if choice == "all":
        return {}
    if choice:
        raise Missing(f"{VARIABLE}={choice}: it is one of {', '.join(ENGINES)}, or all")
    reasons = ((engine, server.missing()) for engine, server in SERVERS.items())
    return {engine: reason for engine, reason in reasons if reason}


def chosen() -> list[str]:
    """The engines that tests run on. Raises Missing if one was asked for by name that is not here."""
    engines = [engine for engine in ENGINES if engine not in left_out()]
    for engine in engines:
        reason = SERVERS[engine].missing() if engine in SERVERS else None
        if reason:
            raise Missing(f"{VARIABLE}={os.environ[VARIABLE]}, but {reason}")
    return engines


def need(server: type[Server] | type[GaleraCluster]) -> None:
    """Skip this test, and say why, unless such a server can be started here and was not left out."""
    engine = "mariadb" if server is GaleraCluster else server.engine
    reason = left_out().get(engine) or server.missing()
    if reason:
        pytest.skip(f"not run: {server.__name__}, {reason}")


class Databases(abc.ABC):
    """Databases of one engine. Each is known by its URL."""

    engine: str

    def __init__(self) -> None:
        self._originals: dict[str, str] = {}
        self._numbers = itertools.count(1)

    @abc.abstractmethod
    def create(self, like: str | None = None) -> str:
        """A database of which there is nothing yet, or a copy of one that nobody is connected to."""

    @abc.abstractmethod
    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected to it."""

    @abc.abstractmethod
    def remove(self) -> None:
        """Remove all of them."""

    @contextmanager
    def fresh(self, kind: str = "", make: Callable[[str], object] | None = None) -> Iterator[str]:
        """An empty database, or one as `make` leaves it, which is called once for each kind."""
        if make is not None and kind not in self._originals:
            original = self.create()
            make(original)
            self._originals[kind] = original
        url = self.create(self._originals.get(kind))
        try:
            yield url
        finally:
            self.drop(url)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class SQLiteFiles(Databases):
    engine = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self._directory = Path(tempfile.mkdtemp(prefix="plimsoll-"))

    def create(self, like: str | None = None) -> str:
        # In a directory of its own, beside which the log and the locks lie.
        file = self._directory / str(next(self._numbers)) / "placement.sqlite"
        file.parent.mkdir()
        if like is not None:
            with closing(sqlite3.connect(file_of(like))) as original:
                original.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            shutil.copy(file_of(like), file)
        return f"sqlite:///{file}"

    def drop(self, url: str) -> None:
        shutil.rmtree(file_of(url).parent)

    def remove(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)


class ServerDatabases(Databases):
    """Databases on one private server, which runs until they are removed. It waits for no disk."""

    def __init__(self, engine: str) -> None:
        super().__init__()
        self.engine = engine
        self.server = SERVERS[engine](durable=False).__enter__()

    def create(self, like: str | None = None) -> str:
        name = f"placement_{next(self._numbers)}"
        self.server.create_database(name, like and make_url(like).database)
        # For each connection PyMySQL reads the machine's certificates, 30 ms long, unless it is told not to.
        return self.server.url(name) + ("?ssl_disabled=true" if self.engine == "mariadb" else "")

    def drop(self, url: str) -> None:
        self.server.drop_database(make_url(url).database or "")

    def remove(self) -> None:
        self.server.remove()


def databases_of(engine: str) -> Databases:
    return SQLiteFiles() if engine == "sqlite" else ServerDatabases(engine)


def file_of(url: str) -> Path:
    """Where the SQLite database is that this URL names."""
    return Path(make_url(url).database or "")


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A connection that goes around the service, committed at the end. Its statements may break any rule.

    Foreign keys are not enforced (as never on SQLite), and a zero is a zero where it would ask for a number.
    """
    with _engine(url, poolclass=NullPool).begin() as connection:
        let_pass(connection)
        yield connection


def let_pass(connection: Connection) -> None:
    """Have no rules enforced on this connection, for the rest of its transaction at least."""
    match connection.dialect.name:
        case "postgresql":
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        case "mysql" | "mariadb":
            zero = "sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"
            connection.execute(text(f"SET SESSION foreign_key_checks = 0, {zero}"))


def run_sql(url: str, *statements: str) -> None:
    """Do something behind the service's back."""
    with connected(url) as connection:
        for statement in statements:
            connection.execute(text(statement))


class Kept:
    """The rows of a database, to be put back for the next test. For tests that change rows, and not tables."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url, pool_size=1)
        described = MetaData()
        with self._engine.begin() as connection:
            described.reflect(connection)
            self._rows = {
                table: connection.execute(select(table)).all() for table in described.tables.values()
            }

    def put_back(self) -> None:
        with self._engine.begin() as connection:
            let_pass(connection)
            for table, rows in self._rows.items():
                if set(connection.execute(select(table))) != set(rows):
                    connection.execute(delete(table))
                    if rows:
                        connection.execute(insert(table), [row._asdict() for row in rows])

    def dispose(self) -> None:
        self._engine.dispose()


DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "mariadb": "mysql+pymysql"}


def _engine(url: str, **options: Any) -> Engine:
    return create_engine(make_url(url).set(drivername=DRIVERS[engine_of(url)]), **options)


def engine_of(url: str) -> str:
    """Which engine a URL is of."""
    backend = make_url(url).get_backend_name()
    return "mariadb" if backend == "mysql" else backend


if __name__ == "__main__":
    try:
        print(*chosen())
    except Missing as missing:
        raise SystemExit(str(missing)) from None
