# SPDX-License-Identifier: Apache-2.0

"""Lookup tables map names to ids: projects, users, aggregates. Their rows are never deleted.

A bounded number of rows is cached, and only after the transaction that may have inserted them is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, String, insert

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.storage import tables as t
from plimsoll.storage.sql import Columns, format_time, insert_rows, query

MAX_CACHED = 50_000
MAX_CACHED_CHARACTERS = 64
"""Longer names are not cached. The ids that Keystone assigns have 32 characters."""
MAX_STATEMENT_BYTES = 400_000
"""Bytes of names in one statement. A character can take 8 bytes: 4, each of them escaped."""


class Entry(NamedTuple):
    """A row: its id, and the stored name, whose spelling may differ from the requested one."""

    id: int
    name: str


class LookupTable:
    """The cached rows of one table, by requested name."""

    def __init__(self, column: Column[Any], semantics: DatabaseSemantics = EXACT) -> None:
        self.column = column
        self.key = semantics.key
        assert isinstance(column.type, String)
        assert column.type.length is not None
        self.max_names = MAX_STATEMENT_BYTES // (8 * column.type.length)
        """Maximum number of names in one statement."""
        self.cached: dict[str, Entry] = {}
        self.columns = Columns(column.table, (column.name, "created_at"))
        self.query = f"SELECT id, {column.name} FROM {column.table.name} WHERE {column.name} IN (...)"  # noqa: S608

    def clear_cache(self) -> None:
        """Drop all cached rows: the database may have been replaced."""
        self.cached = {}

    def cache_entries(self, found: dict[str, Entry]) -> None:
        if len(self.cached) + len(found) > MAX_CACHED:
            self.cached = {}
        self.cached.update(
            {name: entry for name, entry in found.items() if len(name) <= MAX_CACHED_CHARACTERS}
        )


class LookupSession:
    """Lookup tables as one transaction reads them. Call `cache_entries` after the commit."""

    __slots__ = ("_connect", "_found", "_now", "_pause")

    def __init__(
        self, connect: Callable[[], Connection], now: datetime, pause: Callable[[], None] = lambda: None
    ) -> None:
        self._connect = connect
        """Returns the connection of the transaction. Called only if a row is not cached."""
        self._now = now
        self._pause = pause
        self._found: dict[LookupTable, dict[str, Entry]] = {}

    def entries(self, table: LookupTable, names: Set[str]) -> Mapping[str, Entry]:
        """Return the rows of these names, and perhaps of others; insert rows for new names."""
        cached = table.cached
        if cached.keys() >= names:
            return cached
        found = self._found.setdefault(table, {})
        missing = [name for name in sorted(names) if name not in found and name not in cached]
        if missing:
            found.update(self._fetch_or_insert(table, missing))
        entries: dict[str, Entry] = {}
        for name in names:
            entries[name] = found.get(name) or cached[name]
            self._pause()
        return entries

    def cache_entries(self) -> None:
        for table, found in self._found.items():
            table.cache_entries(found)

    def _fetch_or_insert(self, table: LookupTable, names: list[str]) -> dict[str, Entry]:
        rows_by_key: dict[str, Entry] = {}
        for start in range(0, len(names), table.max_names):
            rows_by_key |= self._get_or_insert(table, names[start : start + table.max_names])
            self._pause()
        found: dict[str, Entry] = {}
        for name in names:
            found[name] = rows_by_key[table.key(name)]
            self._pause()
        return found

    def _get_or_insert(self, table: LookupTable, names: list[str]) -> dict[str, Entry]:
        """Return rows by the key of their name."""
        rows_by_key = self._rows(table, names)
        self._pause()
        new = {key: name for name in reversed(names) if (key := table.key(name)) not in rows_by_key}
        if len(new) == 1:
            ((key, name),) = new.items()
            rows_by_key[key] = Entry(self._insert_one(table.column, name), name)
        elif new:
            conn = self._connect()
            at = format_time(conn.dialect, self._now)
            rows = [(name, at) for name in sorted(new.values())]
            for statement in insert_rows(conn.dialect, table.columns, rows):
                conn.exec_driver_sql(statement.sql, tuple(statement.values))
                self._pause()
            rows_by_key |= self._rows(table, [*new.values()])
        return rows_by_key

    def _rows(self, table: LookupTable, names: list[str]) -> dict[str, Entry]:
        conn = self._connect()
        statement = query(conn.dialect, table.query, names)
        rows = conn.exec_driver_sql(statement.sql, tuple(statement.values)).all()
        entries: dict[str, Entry] = {}
        for row in rows:
            entry = Entry(*row)
            entries[table.key(entry.name)] = entry
            self._pause()
        return entries

    def _insert_one(self, column: Column[Any], name: str) -> int:
        result = self._connect().execute(insert(column.table), {column.name: name, "created_at": self._now})
        key = result.inserted_primary_key
        assert key is not None
        return int(key[0])


class LookupTables:
    """All lookup tables of one database."""

    def __init__(self, semantics: DatabaseSemantics = EXACT) -> None:
        self.projects = LookupTable(t.projects.c.external_id, semantics)
        self.users = LookupTable(t.users.c.external_id, semantics)
        self.aggregates = LookupTable(t.placement_aggregates.c.uuid, semantics)

    def clear_cache(self) -> None:
        for table in (self.projects, self.users, self.aggregates):
            table.clear_cache()
