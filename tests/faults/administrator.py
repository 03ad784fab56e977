# SPDX-License-Identifier: Apache-2.0

"""Faults that the administrator of a database can cause: closed connections, held locks, failing statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import make_url

from tests.support.servers import Server

LOCK_HEAD = "SELECT seq FROM plimsoll_head WHERE id = 1 FOR UPDATE"


class Administrator:
    """Runs statements in one database with the rights of an administrator."""

    def __init__(self, server: Server, url: str) -> None:
        self.server = server
        self.database = make_url(url).database or ""
        self._is_postgresql = server.engine == "postgresql"

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        return self.server.run_sql(*statements, database=self.database)

    def connections(self) -> list[int]:
        """The server's numbers of all connections to the database, except the one of this query."""
        if self._is_postgresql:
            query = "SELECT pid FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
        else:
            query = "SELECT id FROM information_schema.processlist WHERE db = '{}' AND id <> CONNECTION_ID()"
        return [number for (number,) in self.run(query.format(self.database))]

    def terminate(self, connection: int) -> None:
        self._try(
            f"SELECT pg_terminate_backend({connection})" if self._is_postgresql else f"KILL {connection}"
        )

    def interrupt(self, connection: int) -> None:
        """Cancel the statement that runs on a connection. The connection stays open."""
        cancel = f"SELECT pg_cancel_backend({connection})"
        self._try(cancel if self._is_postgresql else f"KILL QUERY {connection}")

    def terminate_all(self) -> None:
        for connection in self.connections():
            self.terminate(connection)

    def _try(self, statement: str) -> None:
        with suppress(Exception):  # the connection may be closed already
            self.run(statement)

    @contextmanager
    def transaction(self, *statements: str) -> Iterator[Any]:
        """A cursor in a transaction that has run these statements, and is rolled back at the end."""
        connection = self.server.connect(self.database)
        try:
            cursor = connection.cursor()
            cursor.execute("BEGIN")
            for statement in statements:
                cursor.execute(statement)
            yield cursor
        finally:
            connection.close()

    @contextmanager
    def failing_trigger(self, table: str, body: str, *, at_commit: bool = False) -> Iterator[None]:
        """Run this body, in the server's procedural language, for each row that is inserted into a table."""
        if self._is_postgresql:
            deferred = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
            kind = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
            self.run(
                f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NEW; END $$",
                f"CREATE {kind} fail AFTER INSERT ON {table} {deferred} FOR EACH ROW EXECUTE FUNCTION fail()",
            )
        else:
            assert not at_commit, "MariaDB has no deferred triggers"
            self.run(f"CREATE TRIGGER fail AFTER INSERT ON {table} FOR EACH ROW BEGIN {body}; END")
        try:
            yield
        finally:
            self.terminate_all()
            if self._is_postgresql:
                self.run("DROP FUNCTION fail CASCADE")
            else:
                self.run("DROP TRIGGER fail")
