# SPDX-License-Identifier: Apache-2.0

"""Statements in the words of the driver, for what writes run: SQLAlchemy's way costs more than the database.

They are made here and run together by the dialect, in one round trip where the driver can. Tables and columns
are named by the code alone; values always go as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Table

Row = Sequence[Any]

# The least of what databases allow is SQLite's 32,766.
MOST_PARAMETERS = 30_000


class Statement(NamedTuple):
    sql: str
    values: Sequence[Any] = ()


def query(dialect: Dialect, sql: str, values: Sequence[Any]) -> Statement:
    """A query that says `IN (...)` once, of these values."""
    return Statement(sql.replace("(...)", _group(dialect, len(values))), values)


def insertion(
    dialect: Dialect, table: Table, columns: tuple[str, ...], rows: Sequence[Row]
) -> list[Statement]:
    """Adds rows: the values of each, in the order of the columns."""
    begin, group, prepare = _insertion(dialect, table, columns)
    return [
        Statement(
            begin + ", ".join([group] * len(some)),
            [value for row in some for value in (row if prepare is None else prepare(row))],
        )
        for some in _chunks(rows, MOST_PARAMETERS // len(columns))
    ]


@lru_cache(maxsize=256)
def _insertion(
    dialect: Dialect, table: Table, columns: tuple[str, ...]
) -> tuple[str, str, Callable[[Row], Row] | None]:
    begin = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES "  # noqa: S608
    return begin, _group(dialect, len(columns)), _preparer(dialect, table, columns)


def change(
    dialect: Dialect,
    table: Table,
    key: str,
    columns: tuple[str, ...],
    rows: Sequence[Row],
    alike: tuple[str, Any],
) -> list[Statement]:
    """Changes rows: each is the key and then the values of the columns. `alike` is a column they all get alike."""
    same, value_alike = alike
    begin, when, prepare, prepare_alike = _change(dialect, table, key, columns, same)
    if prepare_alike is not None:
        (value_alike,) = prepare_alike((value_alike,))
    if prepare is not None:
        rows = [prepare(row) for row in rows]
    statements = []
    for some in _chunks(rows, MOST_PARAMETERS // (2 * len(columns) + 1)):
        values = [
            value for number in range(1, len(columns) + 1) for row in some for value in (row[0], row[number])
        ]
        values.append(value_alike)
        values += [row[0] for row in some]
        sql = begin.replace(when, when * len(some)) + _group(dialect, len(some))
        statements.append(Statement(sql, values))
    return statements


@lru_cache(maxsize=64)
def _change(
    dialect: Dialect, table: Table, key: str, columns: tuple[str, ...], same: str
) -> tuple[str, str, Callable[[Row], Row] | None, Callable[[Row], Row] | None]:
    """The statement for one row, up to the keys, and what is said in it of each row."""
    place = _mark(dialect)
    when = f" WHEN {place} THEN {place}"
    # The column at the end tells the type, where all values are NULL.
    cases = [f"{column} = CASE {key}{when} ELSE {column} END" for column in columns]
    return (
        f"UPDATE {table.name} SET {', '.join(cases)}, {same} = {place} WHERE {key} IN ",  # noqa: S608
        when,
        _preparer(dialect, table, (key, *columns)),
        _preparer(dialect, table, (same,)),
    )


def setting(dialect: Dialect, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]) -> Statement:
    """Changes the rows that have these values to have those."""
    sql, prepare = _setting(dialect, table, tuple(values), tuple(where))
    given = (*values.values(), *where.values())
    return Statement(sql, given if prepare is None else prepare(given))


@lru_cache(maxsize=64)
def _setting(
    dialect: Dialect, table: Table, columns: tuple[str, ...], where: tuple[str, ...]
) -> tuple[str, Callable[[Row], Row] | None]:
    place = _mark(dialect)
    return (
        f"UPDATE {table.name} SET {', '.join(f'{column} = {place}' for column in columns)}"  # noqa: S608
        f" WHERE {' AND '.join(f'{column} = {place}' for column in where)}",
        _preparer(dialect, table, (*columns, *where)),
    )


def removal(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> Statement:
    """Removes the rows that have one of these values in each of these columns."""
    conditions = [f"{column} IN {_group(dialect, len(values))}" for column, values in where.items()]
    return Statement(
        f"DELETE FROM {table.name} WHERE {' AND '.join(conditions)}",  # noqa: S608
        [value for values in where.values() for value in values],
    )


def deletion(dialect: Dialect, table: Table, key: str, keys: Sequence[Any]) -> list[Statement]:
    """Removes all rows with one of these keys."""
    sql = f"DELETE FROM {table.name} WHERE {key} IN (...)"  # noqa: S608
    return [query(dialect, sql, some) for some in _chunks(keys, MOST_PARAMETERS)]


def _mark(dialect: Dialect) -> str:
    """How the driver writes the place of a value."""
    return "?" if dialect.paramstyle == "qmark" else "%s"


def _group(dialect: Dialect, size: int) -> str:
    return f"({', '.join([_mark(dialect)] * size)})"


def _chunks(rows: Sequence[Any], size: int) -> Sequence[Sequence[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _preparer(dialect: Dialect, table: Table, columns: tuple[str, ...]) -> Callable[[Row], Row] | None:
    """Values in the form in which this driver takes them, where that is another: SQLite has no times."""
    kinds = [table.c[name].type.dialect_impl(dialect) for name in columns]
    processors = [
        # All rows of a batch have the same few times.
        (place, lru_cache(maxsize=16)(processor))
        for place, processor in enumerate(kind.bind_processor(dialect) for kind in kinds)
        if processor is not None
    ]
    if not processors:
        return None

    def prepare(row: Row) -> Row:
        prepared = list(row)
        for place, processor in processors:
            if prepared[place] is not None:
                prepared[place] = processor(prepared[place])
        return prepared

    return prepare
