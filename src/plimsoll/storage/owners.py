# SPDX-License-Identifier: Apache-2.0

"""Projects and users: the row ids of the names that a consumer's owner has. They are never deleted.

A bounded number of ids is remembered, and only once the transaction that may have made them is committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, bindparam, insert, select

from plimsoll.domain.keeping import EXACT, Keeping
from plimsoll.storage import tables as t

REMEMBERED = 50_000


class Owners:
    """The remembered ids of one table, projects or users."""

    def __init__(self, table: Table, keeping: Keeping = EXACT) -> None:
        self._table = table
        self._key = keeping.key
        self._ids: dict[str, int] = {}
        self._select = select(table.c.external_id, table.c.id).where(
            table.c.external_id.in_(bindparam("names", expanding=True))
        )

    def ids(self, conn: Connection, names: Iterable[str], now: datetime) -> dict[str, int]:
        """The row ids of these names; rows are made for new ones."""
        wanted, known = dict.fromkeys(names), self._ids
        found = {name: known[name] for name in wanted if name in known}
        missing = [name for name in wanted if name not in found]
        if missing:
            there = {self._key(name): id_ for name, id_ in conn.execute(self._select, {"names": missing})}
            for name in missing:
                if self._key(name) not in there:
                    row = {"external_id": name, "created_at": now}
                    there[self._key(name)] = new_id(conn.execute(insert(self._table), row))
                found[name] = there[self._key(name)]
        return found

    def forget(self) -> None:
        """The database may be another than the one that they were read from."""
        self._ids = {}

    def remember(self, ids: dict[str, int]) -> None:
        if len(self._ids) + len(ids) > REMEMBERED:
            self._ids = {}
        self._ids.update(ids)


def new_id(inserted: CursorResult[Any]) -> int:
    """The id that the database gave to the one row that was inserted."""
    key = inserted.inserted_primary_key
    assert key is not None
    return int(key[0])


def projects(keeping: Keeping = EXACT) -> Owners:
    return Owners(t.projects, keeping)


def users(keeping: Keeping = EXACT) -> Owners:
    return Owners(t.users, keeping)
