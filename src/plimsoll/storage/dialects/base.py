# SPDX-License-Identifier: Apache-2.0

"""The interface of a dialect, which is the code for one kind of database, and the options of an operator.

A dialect provides consistent reads, write transactions and the head. It also describes how its database stores
and compares texts and ratios, and maps driver errors to faults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

from sqlalchemy import URL, Connection

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.fast_paths import FastPaths
from plimsoll.runtime.base import Runtime
from plimsoll.storage.errors import DatabaseFault, ValueNotStorable
from plimsoll.storage.head import Head
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction


class UnusableDatabaseError(Exception):
    """This database cannot be used. The message has the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """The [placement_database] options for connections, under their own names, and [plimsoll]causal_reads."""

    connection_parameters: str | None = None
    connection_debug: int = 0
    sqlite_synchronous: bool = True
    max_pool_size: int | None = None
    max_overflow: int | None = None
    pool_timeout: int | None = None
    connection_recycle_time: int = 3600
    max_retries: int = 10
    retry_interval: int = 10
    mysql_sql_mode: str | None = "TRADITIONAL"
    causal_reads: bool = True

    @classmethod
    def from_sections(cls, *sections: Mapping[str, Any]) -> Self:
        """Return the options that are set in these sections of the configuration. Other options are ignored."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: section[name] for section in sections for name in section if name in known})


class Dialect(Protocol):
    """One open database. Every method may be called from any thread."""

    where: str
    """The path, or the URL without its password, for log lines and messages."""

    def semantics(self) -> DatabaseSemantics:
        """Return how this database stores and compares texts and ratios."""

    def read(self) -> AbstractContextManager[Connection]:
        """A connection whose queries all see one committed state."""

    def read_single_query(self) -> AbstractContextManager[Connection]:
        """A connection for one query, without the round trips of a transaction."""

    def transaction(self, expected: Head | None = None) -> AbstractContextManager[Transaction]:
        """A write transaction. With an expected head it is optimistic, else it must begin with `lock_head`."""

    def background_transaction(self) -> AbstractContextManager[Transaction]:
        """A write transaction that does not concern the head, for tables that no claim uses."""

    def change_schema(self) -> AbstractContextManager[Transaction]:
        """A transaction that creates or changes tables, for one process at a time. It does not lock the head."""

    def select_in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query with `IN (...)` for these values, without the overhead of SQLAlchemy."""

    def select(self, statement: Statement) -> list[Any]:
        """Return the rows of a query, without the overhead of SQLAlchemy. Its columns are numbers and texts."""

    @property
    def commits_in_background(self) -> bool:
        """Whether this process can run other requests while the database writes and commits a transaction."""

    @property
    def is_multi_primary(self) -> bool:
        """Whether several nodes accept writes, so that a lock at one node does not exclude writers at another."""

    def sequence_statements(self, table: str, rows: int) -> Sequence[Statement]:
        """Return the statements that advance a table's id sequence after inserts with explicit ids, if it has one."""

    def start_head_query(self) -> Callable[[], Head]:
        """Send the query for the head, and return a function that waits for its result.

        The result is the head at some moment after this call began.
        """

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotStorable | None:
        """Return the fault for an error of the driver; None if a statement or a row of ours caused it."""

    def dispose(self) -> None:
        """Close every connection. The next use opens new ones."""


class DialectFactory(Protocol):
    """The class or function of a dialect module that opens a database."""

    def __call__(
        self, url: URL, options: DatabaseOptions, runtime: Runtime, fast_paths: FastPaths
    ) -> Dialect: ...
