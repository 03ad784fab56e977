# SPDX-License-Identifier: Apache-2.0

"""The database as the rest of the service sees it: consistent reads, exclusive writes, and a version token.

Which database it is decides a URL, in SQLAlchemy's form; what differs between them is in `dialects`.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager

from sqlalchemy import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError

from plimsoll.storage.dialects.base import DatabaseOptions, Dialect, DialectFactory, UnusableDatabaseError
from plimsoll.storage.dialects.sqlite import SQLite

__all__ = ["Database", "DatabaseOptions", "UnusableDatabaseError"]

_DIALECTS: dict[str, DialectFactory] = {"sqlite": SQLite}

_UNREADABLE = "{url!r} is not a database URL. It has the form sqlite:////absolute/path/to/file"
_UNKNOWN = "{name} databases are not supported yet; these are: {known}"


class Database:
    """One database. Open it once per process; every method may be called from any thread."""

    def __init__(self, url: str, options: DatabaseOptions | None = None) -> None:
        options = options or DatabaseOptions()
        parsed = _parse(url, options)
        name = parsed.get_backend_name()
        if name not in _DIALECTS:
            raise UnusableDatabaseError(_UNKNOWN.format(name=name, known=", ".join(sorted(_DIALECTS))))
        _log_statements(options.connection_debug)
        self._dialect: Dialect = _DIALECTS[name](parsed, options)

    @property
    def where(self) -> str:
        """The database's place in words fit for an operator's eyes: no password."""
        return self._dialect.where

    def read(self) -> AbstractContextManager[Connection]:
        """A connection whose queries all see one committed state, the newest when the first of them runs."""
        return self._dialect.read()

    def write(self) -> AbstractContextManager[Connection]:
        """The connection that holds the write lock of the whole database, over every process that uses it.

        Commits on a clean exit and rolls back on an exception. Not to be nested.
        """
        return self._dialect.write()

    def change_schema(self) -> AbstractContextManager[Connection]:
        """Like write, for creating tables."""
        return self._dialect.change_schema()

    def version_token(self) -> int:
        """A number that differs from the last one if anybody, this process included, committed in between.

        Take it before reading the state that it is to stand for.
        """
        return self._dialect.version_token()

    def dispose(self) -> None:
        """Close every connection."""
        self._dialect.dispose()


def _parse(url: str, options: DatabaseOptions) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UnusableDatabaseError(_UNREADABLE.format(url=url)) from error
    if options.connection_parameters:
        parsed = parsed.update_query_string(options.connection_parameters, append=True)
    return parsed


def _log_statements(verbosity: int) -> None:
    """Follow [placement_database]connection_debug: from 50 on statements are logged, at 100 results too."""
    if verbosity >= 50:
        level = logging.DEBUG if verbosity >= 100 else logging.INFO
        logging.getLogger("sqlalchemy.engine").setLevel(level)
