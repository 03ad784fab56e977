# SPDX-License-Identifier: Apache-2.0

"""Registers: the rows of names that others refer to by number. Projects, users, aggregates; none is ever deleted.

A bounded number of rows is remembered, and only once the transaction that may have made them is committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, bindparam, insert, select

from plimsoll.domain.keeping import EXACT, Keeping
from plimsoll.storage import tables as t

REMEMBERED = 50_000


class Entry(NamedTuple):
    """A row: its id, and the name as it is kept, which may be spelled otherwise than it was asked for."""

    id: int
    name: str


class Register:
    """The remembered rows of one table, by the names that were asked for."""

    def __init__(self, column: Column[Any], keeping: Keeping = EXACT) -> None:
        self.column = column
        self.key = keeping.key
        self.known: dict[str, Entry] = {}
        self.query = select(column.table.c.id, column).where(column.in_(bindparam("names", expanding=True)))

    def forget(self) -> None:
        """The database may be another than the one that they were read from."""
        self.known = {}

    def remember(self, found: dict[str, Entry]) -> None:
        if len(self.known) + len(found) > REMEMBERED:
            self.known = {}
        self.known.update(found)


class Reading:
    """Registers as one transaction sees them. `remember` after the commit."""

    __slots__ = ("_conn", "_found", "_now")

    def __init__(self, conn: Connection, now: datetime) -> None:
        self._conn = conn
        self._now = now
        self._found: dict[Register, dict[str, Entry]] = {}

    def entries(self, register: Register, names: Set[str]) -> Mapping[str, Entry]:
        """The rows of these names, and perhaps of others; rows are made for new ones."""
        known = register.known
        if known.keys() >= names:
            return known
        found = self._found.setdefault(register, {})
        missing = [name for name in sorted(names) if name not in found and name not in known]
        if missing:
            found.update(self._looked_up(register, missing))
        return {name: found.get(name) or known[name] for name in names}

    def remember(self) -> None:
        for register, found in self._found.items():
            register.remember(found)

    def _looked_up(self, register: Register, names: list[str]) -> dict[str, Entry]:
        rows = [Entry(*row) for row in self._conn.execute(register.query, {"names": names})]
        there = {register.key(entry.name): entry for entry in rows}
        for name in names:
            if register.key(name) not in there:
                there[register.key(name)] = Entry(self._made(register.column, name), name)
        return {name: there[register.key(name)] for name in names}

    def _made(self, column: Column[Any], name: str) -> int:
        made = self._conn.execute(insert(column.table), {column.name: name, "created_at": self._now})
        key = made.inserted_primary_key
        assert key is not None
        return int(key[0])


class Registers:
    """All of them, for one database."""

    def __init__(self, keeping: Keeping = EXACT) -> None:
        self.projects = Register(t.projects.c.external_id, keeping)
        self.users = Register(t.users.c.external_id, keeping)
        self.aggregates = Register(t.placement_aggregates.c.uuid, keeping)

    def forget(self) -> None:
        for register in (self.projects, self.users, self.aggregates):
            register.forget()
