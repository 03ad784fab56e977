# SPDX-License-Identifier: Apache-2.0

"""The interface that sends statements to a database, and the plain implementation: one statement after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from plimsoll.runtime.base import Runtime
from plimsoll.storage.sql import Statement

COMMIT = Statement("COMMIT")

ROWS_PER_YIELD = 1_000
"""Rows that are fetched before a yield to other requests."""


class CommitFailed(Exception):
    """The COMMIT, or the message that contained it, failed. The transaction may be committed."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class StatementSender(Protocol):
    """Sends statements on a connection of the driver. Errors of the driver are raised as they are."""

    def run(self, connection: Any, statements: Sequence[Statement]) -> list[list[Any]]:
        """Run statements and return the rows of each. The first failure ends it."""

    def commit(self, connection: Any, statements: Sequence[Statement]) -> None:
        """Run statements and commit. Raises CommitFailed for an error after the COMMIT was sent."""


class OneByOneSender:
    """Sends each statement by itself, through a cursor of the driver."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def run(self, connection: Any, statements: Sequence[Statement]) -> list[list[Any]]:
        yield_if_due = self._runtime.periodic_yield()
        results = []
        for each in statements:
            results.append(run_statement(connection, each, self._runtime.yield_now))
            yield_if_due()
        return results

    def commit(self, connection: Any, statements: Sequence[Statement]) -> None:
        self.run(connection, statements)
        try:
            run_statement(connection, COMMIT, self._runtime.yield_now)
        except Exception as error:
            raise CommitFailed(error) from error


def run_statement(connection: Any, statement: Statement, pause: Callable[[], None]) -> list[Any]:
    """Run one statement and return its rows. Calls `pause` after each thousand rows."""
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(statement.sql, statement.values or ())
        if cursor.description is None:
            return []
        rows = list(cursor.fetchmany(ROWS_PER_YIELD))
        while len(rows) and not len(rows) % ROWS_PER_YIELD:
            pause()
            chunk = cursor.fetchmany(ROWS_PER_YIELD)
            if not chunk:
                break
            rows += chunk
        return rows
