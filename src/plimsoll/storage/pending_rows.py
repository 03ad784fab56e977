# SPDX-License-Identifier: Apache-2.0

"""Rows that are added, changed and removed, gathered in the order in which that comes.

Rows that are added to a table one after the other go in one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Dialect, Table

from plimsoll.storage.sql import (
    Columns,
    Row,
    Statement,
    insertion,
    removal,
    setting,
)


class PendingRows:
    """What a batch of commands does to rows, one by one."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._statements: list[Statement] = []
        self._place: Columns | None = None
        self._added: list[Row] = []
        self.numbered: dict[str, int] = {}
        """How many rows have brought ids that the database would have given them, by the name of the table."""

    def add(self, columns: Columns, rows: Iterable[Row]) -> None:
        if columns is not self._place:
            self._write_added()
            self._place = columns
        self._added += rows

    def add_numbered(self, columns: Columns, row: Row) -> None:
        """Adds a row that has an id, to a table whose rows the database can number by itself."""
        self.add(columns, (row,))
        table = columns.table.name
        self.numbered[table] = self.numbered.get(table, 0) + 1

    def change(self, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        self._write_added()
        self._statements.append(setting(self._dialect, table, where, values))

    def remove(self, table: Table, where: Mapping[str, Sequence[Any]]) -> None:
        """Those that have one of these values in each of these columns."""
        self._write_added()
        self._statements += removal(self._dialect, table, where)

    def statements(self) -> list[Statement]:
        self._write_added()
        return self._statements

    def _write_added(self) -> None:
        if self._place is not None and self._added:
            self._statements += insertion(self._dialect, self._place, self._added)
            self._added = []
