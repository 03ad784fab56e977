# SPDX-License-Identifier: Apache-2.0

"""The seam between the service and one kind of database: what a dialect offers, and what an operator may set.

A dialect gives consistent reads, transactions that write, and the head; and it knows how its database keeps
texts and ratios, and what its errors mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

from sqlalchemy import URL, Connection

from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.storage.errors import DatabaseFault, ValueNotKept
from plimsoll.storage.head import Head
from plimsoll.storage.sql import Statement


class UnusableDatabaseError(Exception):
    """This database cannot be used as it is; the text says why and what to do about it."""


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """The [placement_database] options that shape connections, under their own names, and [plimsoll]causal_reads."""

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
        """Take what we know from sections of the configuration, and leave the rest."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: section[name] for section in sections for name in section if name in known})


class Dialect(Protocol):
    """One open database. Every method may be called from any thread."""

    where: str

    def keeping(self) -> DatabaseSemantics:
        """How this database keeps texts and ratios."""

    def read(self) -> AbstractContextManager[Connection]:
        """A connection that sees one committed state until it is given back."""

    def glance(self) -> AbstractContextManager[Connection]:
        """A connection for one query, which costs one round trip and no more."""

    def write(self, expected: Head | None = None) -> AbstractContextManager[Connection]:
        """A transaction: commits on a clean exit, else rolls back. Its first act must be `changes.lock_head`.

        One that takes a head for granted need not: it is taken with the first statement, which raises Overtaken if
        it is another one; with `run_last`, the first of those statements must be `head.moving`.
        Raises OutcomeUnknown if the commit was tried and no answer came, and faults for errors that are the database's.
        """

    def change_schema(self) -> AbstractContextManager[Connection]:
        """Like write, without a head, and fit for creating tables; for one process at a time."""

    def ask(self, connection: Connection, queries: Sequence[Statement]) -> list[list[Any]]:
        """The rows of each of these queries, in as few round trips as the driver allows."""

    def look(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """The rows of one query that says `IN (...)` of these values, by the shortest way there is."""

    def run_last(self, connection: Connection, statements: Sequence[Statement]) -> None:
        """Runs the last statements of a transaction that writes, and commits it.

        Raises OutcomeUnknown if no answer came.
        """

    @property
    def works_by_itself(self) -> bool:
        """Whether this process can get on with something else while a transaction is written and committed."""

    @property
    def is_multi_primary(self) -> bool:
        """Whether several nodes accept writes, so that a lock at one of them does not exclude writers at another."""

    def counting_along(self, table: str, rows: int) -> Sequence[Statement]:
        """What makes the database count so many new rows that brought their ids, where it does not by itself."""

    def taking_the_head(self) -> Statement:
        """The query for the head that takes it for this transaction."""

    def ask_head(self) -> Callable[[], Head]:
        """Begins to ask for the head, if that takes long; what is returned gives the answer.

        It is the head at some moment after this call began.
        """

    def fault_of(self, error: BaseException) -> DatabaseFault | ValueNotKept | None:
        """What an error of the driver means, if it is neither our mistake nor a row's."""

    def dispose(self) -> None:
        """Close every connection. The database may be used again; it is then opened anew."""


class DialectFactory(Protocol):
    """How a dialect module is entered."""

    def __call__(self, url: URL, options: DatabaseOptions) -> Dialect: ...
