# SPDX-License-Identifier: Apache-2.0

"""Projects and users: the row ids of the names that a consumer's owner has. They are never deleted.

A bounded number of ids is remembered, and only once the transaction that may have made them is committed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, bindparam, insert, select

from plimsoll.storage import tables as t

REMEMBERED = 50_000


class Owners:
    """The remembered ids of one table, projects or users."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._ids: dict[str, int] = {}
        self._select = select(table.c.external_id, table.c.id).where(
            table.c.external_id.in_(bindparam("names", expanding=True))
        )

    def ids(self, conn: Connection, names: Iterable[str], now: datetime) -> dict[str, int]:
        """The row ids of these names; rows are made for new ones."""
        wanted = set(names)
        found = {name: self._ids[name] for name in wanted if name in self._ids}
        missing = sorted(wanted - found.keys())
        if missing:
            found.update((name, id_) for name, id_ in conn.execute(self._select, {"names": missing}))
            for name in missing:
                if name not in found:
                    row = {"external_id": name, "created_at": now}
                    found[name] = new_id(conn.execute(insert(self._table), row))
        return found

    def remember(self, ids: dict[str, int]) -> None:
        if len(self._ids) + len(ids) > REMEMBERED:
            self._ids = {}
        self._ids.update(ids)


def new_id(inserted: CursorResult[Any]) -> int:
    """The id that the database gave to the one row that was inserted."""
    key = inserted.inserted_primary_key
    assert key is not None
    return int(key[0])


def projects() -> Owners:
    return Owners(t.projects)


def users() -> Owners:
    return Owners(t.users)
