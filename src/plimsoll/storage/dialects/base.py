# SPDX-License-Identifier: Apache-2.0

"""The seam between the service and one kind of database: what a dialect offers, and what an operator may set.

A dialect gives consistent reads, writes that exclude every other writer of the same database in any process,
and a number that tells cheaply whether anybody has committed since it was last asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self

from sqlalchemy import URL, Connection


class UnusableDatabaseError(Exception):
    """This database cannot be used as it is; the text says why and what to do about it."""


@dataclass(frozen=True, slots=True)
class DatabaseOptions:
    """The [placement_database] options that shape connections, under their own names."""

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

    @classmethod
    def from_section(cls, section: Mapping[str, Any]) -> Self:
        """Take what we know from a section of the configuration, and leave the rest."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in section.items() if name in known})


class Dialect(Protocol):
    """One open database. Every method may be called from any thread."""

    where: str

    def read(self) -> AbstractContextManager[Connection]:
        """A connection that sees one committed state until it is given back."""

    def write(self) -> AbstractContextManager[Connection]:
        """The only writing connection there is, anywhere: commits on a clean exit, else rolls back."""

    def change_schema(self) -> AbstractContextManager[Connection]:
        """Like write, and fit for creating tables, even in a database that has none yet."""

    def version_token(self) -> int:
        """A number that is different from the last one if anybody has committed in between."""

    def dispose(self) -> None:
        """Close every connection. The database may be used again; it is then opened anew."""


class DialectFactory(Protocol):
    """How a dialect module is entered."""

    def __call__(self, url: URL, options: DatabaseOptions) -> Dialect: ...
