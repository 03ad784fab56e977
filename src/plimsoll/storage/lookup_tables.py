# SPDX-License-Identifier: Apache-2.0

"""Registers: the rows of names that others refer to by number. Projects, users, aggregates; none is ever deleted.

A bounded number of rows is remembered, and only once the transaction that may have made them is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, String, insert

from plimsoll.domain.database_semantics import EXACT, DatabaseSemantics
from plimsoll.storage import tables as t
from plimsoll.storage.sql import (
    Columns,
    insertion,
    query,
    written,
)

REMEMBERED = 50_000
MOST_BYTES = 400_000
"""Of names in one statement. A character may take 8 bytes: 4, each of them escaped."""


class Entry(NamedTuple):
    """A row: its id, and the name as it is kept, which may be spelled otherwise than it was asked for."""

    id: int
    name: str


class LookupTable:
    """The remembered rows of one table, by the names that were asked for."""

    def __init__(self, column: Column[Any], keeping: DatabaseSemantics = EXACT) -> None:
        self.column = column
        self.key = keeping.key
        assert isinstance(column.type, String)
        assert column.type.length is not None
        self.most_at_once = MOST_BYTES // (8 * column.type.length)
        """Names in one statement."""
        self.known: dict[str, Entry] = {}
        self.columns = Columns(column.table, (column.name, "created_at"))
        self.query = f"SELECT id, {column.name} FROM {column.table.name} WHERE {column.name} IN (...)"  # noqa: S608

    def forget(self) -> None:
        """The database may be another than the one that they were read from."""
        self.known = {}

    def remember(self, found: dict[str, Entry]) -> None:
        if len(self.known) + len(found) > REMEMBERED:
            self.known = {}
        self.known.update(found)


class Reading:
    """Registers as one transaction sees them. `remember` after the commit."""

    __slots__ = ("_conn", "_found", "_now", "_pause")

    def __init__(self, conn: Connection, now: datetime, pause: Callable[[], None] = lambda: None) -> None:
        self._conn = conn
        self._now = now
        self._pause = pause
        self._found: dict[LookupTable, dict[str, Entry]] = {}

    def entries(self, register: LookupTable, names: Set[str]) -> Mapping[str, Entry]:
        """The rows of these names, and perhaps of others; rows are made for new ones."""
        known = register.known
        if known.keys() >= names:
            return known
        found = self._found.setdefault(register, {})
        missing = [name for name in sorted(names) if name not in found and name not in known]
        if missing:
            found.update(self._looked_up(register, missing))
        entries: dict[str, Entry] = {}
        for name in names:
            entries[name] = found.get(name) or known[name]
            self._pause()
        return entries

    def remember(self) -> None:
        for register, found in self._found.items():
            register.remember(found)

    def _looked_up(self, register: LookupTable, names: list[str]) -> dict[str, Entry]:
        there: dict[str, Entry] = {}
        for start in range(0, len(names), register.most_at_once):
            there |= self._found_or_made(register, names[start : start + register.most_at_once])
            self._pause()
        found: dict[str, Entry] = {}
        for name in names:
            found[name] = there[register.key(name)]
            self._pause()
        return found

    def _found_or_made(self, register: LookupTable, names: list[str]) -> dict[str, Entry]:
        """Rows by the keys of their names."""
        there = self._rows(register, names)
        self._pause()
        new = {key: name for name in reversed(names) if (key := register.key(name)) not in there}
        if len(new) == 1:
            ((key, name),) = new.items()
            there[key] = Entry(self._made(register.column, name), name)
        elif new:
            at = written(self._conn.dialect, self._now)
            rows = [(name, at) for name in sorted(new.values())]
            for statement in insertion(self._conn.dialect, register.columns, rows):
                self._conn.exec_driver_sql(statement.sql, tuple(statement.values))
                self._pause()
            there |= self._rows(register, [*new.values()])
        return there

    def _rows(self, register: LookupTable, names: list[str]) -> dict[str, Entry]:
        asked = query(self._conn.dialect, register.query, names)
        rows = self._conn.exec_driver_sql(asked.sql, tuple(asked.values)).all()
        entries: dict[str, Entry] = {}
        for row in rows:
            entry = Entry(*row)
            entries[register.key(entry.name)] = entry
            self._pause()
        return entries

    def _made(self, column: Column[Any], name: str) -> int:
        made = self._conn.execute(insert(column.table), {column.name: name, "created_at": self._now})
        key = made.inserted_primary_key
        assert key is not None
        return int(key[0])


class LookupTables:
    """All of them, for one database."""

    def __init__(self, keeping: DatabaseSemantics = EXACT) -> None:
        self.projects = LookupTable(t.projects.c.external_id, keeping)
        self.users = LookupTable(t.users.c.external_id, keeping)
        self.aggregates = LookupTable(t.placement_aggregates.c.uuid, keeping)

    def forget(self) -> None:
        for register in (self.projects, self.users, self.aggregates):
            register.forget()
