# SPDX-License-Identifier: Apache-2.0

"""Inserts, updates and deletes of single rows, collected in their order.

Consecutive inserts into the same columns become one statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Dialect, Table

from plimsoll.storage.sql import Columns, Row, Statement, delete_where, insert_rows, update_where


class PendingRows:
    """Inserts, updates and deletes of one batch of commands, in order."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._statements: list[Statement] = []
        self._columns: Columns | None = None
        self._added: list[Row] = []
        self.explicit_id_counts: dict[str, int] = {}
        """By table name: number of rows inserted with an explicit id into a table that could generate it."""

    def add(self, columns: Columns, rows: Iterable[Row]) -> None:
        if columns is not self._columns:
            self._flush_added()
            self._columns = columns
        self._added += rows

    def add_with_id(self, columns: Columns, row: Row) -> None:
        """Insert a row with an explicit id into a table for which the database can generate ids."""
        self.add(columns, (row,))
        table = columns.table.name
        self.explicit_id_counts[table] = self.explicit_id_counts.get(table, 0) + 1

    def change(self, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        self._flush_added()
        self._statements.append(update_where(self._dialect, table, where, values))

    def remove(self, table: Table, where: Mapping[str, Sequence[Any]]) -> None:
        """Delete the rows that have one of the given values in each given column."""
        self._flush_added()
        self._statements += delete_where(self._dialect, table, where)

    def statements(self) -> list[Statement]:
        self._flush_added()
        return self._statements

    def _flush_added(self) -> None:
        if self._columns is not None and self._added:
            self._statements += insert_rows(self._dialect, self._columns, self._added)
            self._added = []
