# SPDX-License-Identifier: Apache-2.0

"""Statements in the words of the driver, for what writes run: SQLAlchemy's way costs more than the database.

They are made here and run together by the dialect, in one round trip where the driver can. Tables and columns
are named by the code alone; values always go as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import DateTime, Dialect, Table

Row = Sequence[Any]

MOST_PARAMETERS = 5_000
"""Parameters of one statement. SQLite allows 32,766, but a statement must also fit into MariaDB's smallest usual packet
of 1 MB, and SQLite runs it without a pause."""


MOST_CHANGED = 250
"""Rows that one statement changes: databases compare the key of each row with the keys of all of them."""


class Statement(NamedTuple):
    """Words with a mark in the place of each value. Where a mark is `%s`, there is no other percent sign in them."""

    sql: str
    values: Sequence[Any] = ()


class Columns(NamedTuple):
    """Columns of a table, in the order in which rows have their values."""

    table: Table
    names: tuple[str, ...]


@lru_cache(maxsize=16)  # all rows of a batch have the same few
def written(dialect: Dialect, time: datetime) -> str:
    """A time as this database reads it; SQLite keeps it like that."""
    return _writer_of_times(dialect)(time)


@lru_cache(maxsize=16)
def _writer_of_times(dialect: Dialect) -> Callable[[datetime], str]:
    return DateTime().dialect_impl(dialect).bind_processor(dialect) or str


def query(dialect: Dialect, sql: str, values: Sequence[Any]) -> Statement:
    """A query that says `IN (...)` once, of these values."""
    return Statement(_query(dialect, sql, len(values)), values)


@lru_cache(maxsize=128)
def _query(dialect: Dialect, sql: str, size: int) -> str:
    return sql.replace("(...)", _group(dialect, size))


def queries(dialect: Dialect, sql: str, values: Sequence[Any]) -> list[Statement]:
    """Split a query with `IN (...)` into as many as its values need; their rows add up to those of one query."""
    return [query(dialect, sql, some) for some in _chunks(values, MOST_PARAMETERS)]


def insertion(dialect: Dialect, columns: Columns, rows: Sequence[Row]) -> list[Statement]:
    """Adds rows."""
    begin, group, most = _insertion(dialect, columns)
    if len(rows) > most:
        return [each for some in _chunks(rows, most) for each in insertion(dialect, columns, some)]
    return [Statement(begin + ", ".join([group] * len(rows)), [*chain.from_iterable(rows)])]


@lru_cache(maxsize=256)
def _insertion(dialect: Dialect, columns: Columns) -> tuple[str, str, int]:
    table, names = columns
    begin = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES "  # noqa: S608
    return begin, _group(dialect, len(names)), MOST_PARAMETERS // len(names)


def change(
    dialect: Dialect, columns: Columns, rows: Sequence[Row], alike: tuple[str, Any]
) -> list[Statement]:
    """Changes the rows whose first column has the first value. `alike` is one more column, which all get alike."""
    table, (key, *names) = columns
    same, value_alike = alike
    if len(rows) == 1:
        (value, *values) = rows[0]
        sql = _setting(dialect, table, (*names, same), (key,))
        return [Statement(sql, [*values, value_alike, value])]
    begin, when = _change(dialect, columns, same)
    statements = []
    for some in _chunks(rows, MOST_CHANGED):
        keys, *each = zip(*some, strict=True)
        cases = [chain.from_iterable(zip(keys, values, strict=True)) for values in each]
        sql = begin.replace(when, when * len(some)) + _group(dialect, len(some))
        statements.append(Statement(sql, [*chain.from_iterable(cases), value_alike, *keys]))
    return statements


@lru_cache(maxsize=64)
def _change(dialect: Dialect, columns: Columns, same: str) -> tuple[str, str]:
    """The statement for one row, up to the keys, and what is said in it of each row."""
    table, (key, *names) = columns
    place = _mark(dialect)
    when = f" WHEN {place} THEN {place}"
    # The column at the end tells the type, where all values are NULL.
    cases = [f"{name} = CASE {key}{when} ELSE {name} END" for name in names]
    return f"UPDATE {table.name} SET {', '.join(cases)}, {same} = {place} WHERE {key} IN ", when  # noqa: S608


def setting(dialect: Dialect, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]) -> Statement:
    """Changes the rows that have these values to have those."""
    sql = _setting(dialect, table, tuple(values), tuple(where))
    return Statement(sql, [*values.values(), *where.values()])


@lru_cache(maxsize=64)
def _setting(dialect: Dialect, table: Table, columns: tuple[str, ...], where: tuple[str, ...]) -> str:
    place = _mark(dialect)
    return (
        f"UPDATE {table.name} SET {', '.join(f'{column} = {place}' for column in columns)}"  # noqa: S608
        f" WHERE {' AND '.join(f'{column} = {place}' for column in where)}"
    )


def removal(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> list[Statement]:
    """Delete the rows that have one of these values in each of these columns. Only the last may have many values."""
    *_, last = where
    return [
        _removal(dialect, table, {**where, last: some}) for some in _chunks(where[last], MOST_PARAMETERS // 2)
    ]


def _removal(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> Statement:
    conditions = [f"{column} IN {_group(dialect, len(values))}" for column, values in where.items()]
    return Statement(
        f"DELETE FROM {table.name} WHERE {' AND '.join(conditions)}",  # noqa: S608
        [*chain.from_iterable(where.values())],
    )


def deletion(dialect: Dialect, table: Table, key: str, keys: Sequence[Any]) -> list[Statement]:
    """Removes all rows with one of these keys."""
    sql = f"DELETE FROM {table.name} WHERE {key} IN (...)"  # noqa: S608
    return queries(dialect, sql, keys)


def _mark(dialect: Dialect) -> str:
    """How the driver writes the place of a value."""
    return "?" if dialect.paramstyle == "qmark" else "%s"


def _group(dialect: Dialect, size: int) -> str:
    return f"({', '.join([_mark(dialect)] * size)})"


def _chunks(rows: Sequence[Any], size: int) -> Sequence[Sequence[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
