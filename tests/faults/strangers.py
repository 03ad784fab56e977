# SPDX-License-Identifier: Apache-2.0

"""What others do to a database that a service uses: they end its connections, hold its rows, raise its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import make_url

from tests.support.servers import Server

TAKE_HEAD = "SELECT seq FROM plimsoll_head WHERE id = 1 FOR UPDATE"


class Stranger:
    """The administrator of a server, with one database in mind."""

    def __init__(self, server: Server, url: str) -> None:
        self.server = server
        self.database = make_url(url).database or ""
        self._is_postgresql = server.engine == "postgresql"

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        return self.server.run_sql(*statements, database=self.database)

    def connections(self) -> list[int]:
        """The numbers under which the server knows those who use the database, but for the one that asks."""
        if self._is_postgresql:
            query = "SELECT pid FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()"
        else:
            query = "SELECT id FROM information_schema.processlist WHERE db = '{}' AND id <> CONNECTION_ID()"
        return [number for (number,) in self.run(query.format(self.database))]

    def end(self, connection: int) -> None:
        self._try(
            f"SELECT pg_terminate_backend({connection})" if self._is_postgresql else f"KILL {connection}"
        )

    def interrupt(self, connection: int) -> None:
        """What it does at present is given up; the connection stays."""
        cancel = f"SELECT pg_cancel_backend({connection})"
        self._try(cancel if self._is_postgresql else f"KILL QUERY {connection}")

    def end_all(self) -> None:
        for connection in self.connections():
            self.end(connection)

    def _try(self, statement: str) -> None:
        with suppress(Exception):  # it may have ended by itself meanwhile
            self.run(statement)

    @contextmanager
    def transaction(self, *statements: str) -> Iterator[Any]:
        """A cursor in a transaction that has run these, and is given up at the end."""
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
    def trouble(self, table: str, body: str, *, at_commit: bool = False) -> Iterator[None]:
        """Each row that is inserted into a table runs this, in the words of the server's own language."""
        if self._is_postgresql:
            deferred = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
            kind = "CONSTRAINT TRIGGER" if at_commit else "TRIGGER"
            self.run(
                f"CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NEW; END $$",
                f"CREATE {kind} trouble AFTER INSERT ON {table} {deferred} FOR EACH ROW EXECUTE FUNCTION trouble()",
            )
        else:
            assert not at_commit, "MariaDB has no triggers that wait for the commit"
            self.run(f"CREATE TRIGGER trouble AFTER INSERT ON {table} FOR EACH ROW BEGIN {body}; END")
        try:
            yield
        finally:
            self.end_all()
            if self._is_postgresql:
                self.run("DROP FUNCTION trouble CASCADE")
            else:
                self.run("DROP TRIGGER trouble")
