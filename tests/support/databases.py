# SPDX-License-Identifier: Apache-2.0

"""Fresh databases for tests, on each installed engine: SQLite always, PostgreSQL and MariaDB where available.

PLIMSOLL_TEST_DB selects: `sqlite`, `postgresql` or `mariadb` for one engine, `all` for all three, which must then be
installed; without it, all installed ones. Each test gets its own database. A database after some preparation (our
migrations, the reference's) is created once, and copied for each test that needs it.
"""

from __future__ import annotations

import abc
import itertools
import os
import shutil
import sqlite3
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

from tests.support.servers import GaleraCluster, MariaDB, Missing, PostgreSQL, Server, places

VARIABLE = "PLIMSOLL_TEST_DB"
ENGINES_VARIABLE = "PLIMSOLL_TEST_ENGINES"
SERVERS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
ENGINES = ("sqlite", *SERVERS)


def excluded_engines() -> dict[str, str]:
    """Return the engines that tests do not run on, with the reason."""
    choice = os.environ.get(VARIABLE, "")
    if choice in ENGINES:
        return {engine: f"{VARIABLE}={choice}" for engine in ENGINES if engine != choice}
    if choice == "all":
        return {}
    if choice:
        raise Missing(f"{VARIABLE}={choice}: choose one of {', '.join(ENGINES)}, or all")
    reasons = ((engine, server.missing()) for engine, server in SERVERS.items())
    return {engine: reason for engine, reason in reasons if reason}


def selected_engines() -> list[str]:
    """Return the engines that tests run on. Raise Missing if a selected one is not installed."""
    engines = [engine for engine in ENGINES if engine not in excluded_engines()]
    for engine in engines:
        reason = SERVERS[engine].missing() if engine in SERVERS else None
        if reason:
            raise Missing(f"{VARIABLE}={os.environ[VARIABLE]}, but {reason}")
    return engines


def sufficient_engines() -> list[str]:
    """Return the engines for tests whose result cannot depend on the engine: the first selected one, or all if required."""
    engines = selected_engines()
    return engines if os.environ.get(ENGINES_VARIABLE) == "all" else engines[:1]


def need(server: type[Server] | type[GaleraCluster]) -> None:
    """Skip this test with a reason unless this server is installed and not excluded."""
    engine = "mariadb" if server is GaleraCluster else server.engine
    reason = excluded_engines().get(engine) or server.missing()
    if reason:
        pytest.skip(f"not run: {server.__name__}, {reason}")


class Databases(abc.ABC):
    """Databases of one engine, identified by their URLs."""

    engine: str

    def __init__(self) -> None:
        self._originals: dict[str, str] = {}
        self._numbers = itertools.count(1)

    @abc.abstractmethod
    def create(self, like: str | None = None) -> str:
        """Create an empty database, or a copy of one without open connections, and return its URL."""

    @abc.abstractmethod
    def drop(self, url: str) -> None:
        """Drop a database, even while connections to it are open."""

    @abc.abstractmethod
    def remove(self) -> None:
        """Remove all databases."""

    @contextmanager
    def fresh(self, kind: str = "", make: Callable[[str], object] | None = None) -> Iterator[str]:
        """Yield an empty database, or one prepared by `make`, which is called once per kind."""
        url = self.create() if make is None else self.copy(kind, make)
        try:
            yield url
        finally:
            self.drop(url)

    def copy(self, kind: str, make: Callable[[str], object]) -> str:
        """Create a copy of a database prepared by `make`, which is called once per kind."""
        if kind not in self._originals:
            original = self.create()
            make(original)
            self._originals[kind] = original
        return self.create(self._originals[kind])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class SQLiteFiles(Databases):
    """Files, in memory if there is room: a commit on a disk waits for milliseconds."""

    engine = "sqlite"

    def __init__(self) -> None:
        super().__init__()
        self._directory = places.make_directory(in_memory=True)

    def create(self, like: str | None = None) -> str:
        # In its own directory, together with its log and lock files.
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
    """Databases on one private server without fsync, which runs until `remove`."""

    def __init__(self, engine: str) -> None:
        super().__init__()
        self.engine = engine
        self.server = SERVERS[engine](durable=False).__enter__()

    def create(self, like: str | None = None) -> str:
        name = f"placement_{next(self._numbers)}"
        self.server.create_database(name, like and make_url(like).database)
        # PyMySQL reads the machine's certificates for each connection (30 ms) unless TLS is disabled.
        return self.server.url(name) + ("?ssl_disabled=true" if self.engine == "mariadb" else "")

    def drop(self, url: str) -> None:
        self.server.drop_database(make_url(url).database or "")

    def remove(self) -> None:
        self.server.remove()


def databases_of(engine: str) -> Databases:
    return SQLiteFiles() if engine == "sqlite" else ServerDatabases(engine)


def file_of(url: str) -> Path:
    """Return the path of the SQLite database with this URL."""
    return Path(make_url(url).database or "")


@contextmanager
def open_connection(url: str) -> Iterator[Connection]:
    """Yield a direct connection without constraints, and commit at the end.

    Foreign keys are not enforced (on SQLite they never are), and a 0 in an auto-increment column is stored as 0.
    """
    with _engine(url, poolclass=NullPool).begin() as connection:
        disable_constraints(connection)
        yield connection


def disable_constraints(connection: Connection) -> None:
    """Disable constraints on this connection, at least for the rest of its transaction."""
    match connection.dialect.name:
        case "postgresql":
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        case "mysql" | "mariadb":
            zero = "sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')"
            connection.execute(text(f"SET SESSION foreign_key_checks = 0, {zero}"))


def run_sql(url: str, *statements: str) -> None:
    """Execute statements directly, without the service."""
    with open_connection(url) as connection:
        for statement in statements:
            connection.execute(text(statement))


class SavedRows:
    """A copy of all rows of a database, to restore them for the next test. Tables must not change."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url, pool_size=1)
        metadata = MetaData()
        with self._engine.begin() as connection:
            metadata.reflect(connection)
            self._rows = {
                table: connection.execute(select(table)).all() for table in metadata.tables.values()
            }

    def restore(self) -> None:
        with self._engine.begin() as connection:
            disable_constraints(connection)
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
    """Return the engine of a URL."""
    backend = make_url(url).get_backend_name()
    return "mariadb" if backend == "mysql" else backend


if __name__ == "__main__":
    try:
        print(*selected_engines())
    except Missing as missing:
        raise SystemExit(str(missing)) from None
