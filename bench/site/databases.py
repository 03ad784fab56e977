# SPDX-License-Identifier: Apache-2.0

"""Databases for the services, created empty on an engine and dropped at the end.

An engine is a private server with durable production settings, an existing server, or a directory of files.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import URL, make_url

from tests.support.servers import MariaDB as MariaDBServer
from tests.support.servers import PostgreSQL as PostgreSQLServer


class Engine(Protocol):
    name: str

    def url(self, name: str) -> str:
        """Return the URL of the database."""

    def create(self, name: str) -> None: ...

    def drop(self, name: str) -> None: ...

    def version(self) -> str: ...


class SQLite:
    """Files in one directory. Only Plimsoll is measured on them; the reference uses SQLite for tests only."""

    name = "sqlite"

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def url(self, name: str) -> str:
        return f"sqlite:///{self._directory / name}.sqlite"

    def create(self, name: str) -> None:
        self.drop(name)

    def drop(self, name: str) -> None:
        for file in self._directory.glob(f"{name}.sqlite*"):
            file.unlink()

    def version(self) -> str:
        return f"SQLite {sqlite3.sqlite_version}"


class MariaDB:
    name = "mariadb"

    def __init__(self, server: str) -> None:
        self._server = make_url(server)

    def url(self, name: str) -> str:
        return _url(self._server.set(drivername="mysql+pymysql", database=name, query={"charset": "utf8"}))

    def create(self, name: str) -> None:
        self._run(f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")

    def drop(self, name: str) -> None:
        self._run(f"DROP DATABASE IF EXISTS {name}")

    def version(self) -> str:
        return f"MariaDB {self._run('SELECT version()')}"

    def _run(self, *statements: str) -> object:
        with mariadb_cursor(self._server) as cursor:
            for statement in statements:
                cursor.execute(statement)
            found = cursor.fetchone()
            return found[0] if found else None


class PostgreSQL:
    name = "postgresql"

    def __init__(self, server: str) -> None:
        self._server = make_url(server)

    def url(self, name: str) -> str:
        return _url(self._server.set(drivername="postgresql+psycopg2", database=name))

    def create(self, name: str) -> None:
        self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self._run(f"CREATE DATABASE {name}")

    def drop(self, name: str) -> None:
        self._run(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def version(self) -> str:
        return f"PostgreSQL {self._run('SHOW server_version')}"

    def _run(self, statement: str) -> object:
        import psycopg

        with psycopg.connect(for_libpq(self._server), autocommit=True) as connection:
            cursor = connection.execute(statement)
            found = cursor.fetchone() if cursor.description else None
            return found[0] if found else None


@contextlib.contextmanager
def mariadb_cursor(url: URL) -> Iterator[Any]:
    import pymysql

    connection = pymysql.connect(
        host=url.host or "127.0.0.1",
        port=url.port or 3306,
        user=url.username or "root",
        password=url.password or "",
        database=url.database,
        charset="utf8mb4",
    )
    try:
        with connection.cursor() as cursor:
            yield cursor
        connection.commit()
    finally:
        connection.close()


def for_libpq(url: URL) -> str:
    return _url(url.set(drivername="postgresql", query={}))


def _url(url: URL) -> str:
    return url.render_as_string(hide_password=False)


KINDS = ("mariadb", "postgresql", "sqlite")


def missing(kind: str) -> str | None:
    """Return why no private server of this kind can be started, or None."""
    return (PostgreSQLServer if kind == "postgresql" else MariaDBServer).missing()


def is_missing(kind: str) -> bool:
    """Print why nothing can be measured, if no private server of this kind can be started."""
    reason = missing(kind)
    if reason:
        print(f"Nothing was measured: {reason}.")
    return reason is not None


@contextlib.contextmanager
def engines(kind: str, server: str | None, directory: Path) -> Iterator[tuple[Engine, Engine]]:
    """Yield the engines of the reference and of Plimsoll: the same, except that SQLite is compared with MariaDB.

    `server` is the URL of an existing server; without it a private one is started.
    """
    with contextlib.ExitStack() as stack:
        theirs: Engine
        if kind == "postgresql":
            theirs = PostgreSQL(server or stack.enter_context(PostgreSQLServer()).url("postgres"))
        else:
            theirs = MariaDB(server or stack.enter_context(MariaDBServer()).url("mysql"))
        yield theirs, SQLite(directory) if kind == "sqlite" else theirs
