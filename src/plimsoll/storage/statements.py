# SPDX-License-Identifier: Apache-2.0

"""Statements in the words of the driver, for what writes run: SQLAlchemy's way costs more than the database.

They are made here and run together by the dialect, in one round trip where the driver can. Tables and columns
are named by the code alone; values always go as parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
) -> Iterator[Statement]:
    """Adds rows: the values of each, in the order of the columns."""
    prepare = _preparer(dialect, table, columns)
    begin = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES "  # noqa: S608
    group = _group(dialect, len(columns))
    for some in _chunks(rows, MOST_PARAMETERS // len(columns)):
        values = [value for row in some for value in prepare(row)]
        yield Statement(begin + ", ".join([group] * len(some)), values)


def change(
    dialect: Dialect,
    table: Table,
    key: str,
    columns: tuple[str, ...],
    rows: Sequence[Row],
    alike: tuple[str, Any],
) -> Iterator[Statement]:
    """Changes rows: each is the key and then the values of the columns. `alike` is a column they all get alike."""
    prepare = _preparer(dialect, table, (key, *columns))
    same, value = alike
    (value_alike,) = _preparer(dialect, table, (same,))((value,))
    place = _mark(dialect)
    for some in _chunks(rows, MOST_PARAMETERS // (2 * len(columns) + 1)):
        prepared = [prepare(row) for row in some]
        keys = [row[0] for row in prepared]
        whens = f" WHEN {place} THEN {place}" * len(some)
        # The column at the end tells the type, where all values are NULL.
        cases = [f"{column} = CASE {key}{whens} ELSE {column} END" for column in columns]
        numbers = range(1, len(columns) + 1)
        values = [value for number in numbers for row in prepared for value in (row[0], row[number])]
        yield Statement(
            f"UPDATE {table.name} SET {', '.join(cases)}, {same} = {place}"  # noqa: S608
            f" WHERE {key} IN {_group(dialect, len(keys))}",
            [*values, value_alike, *keys],
        )


def setting(dialect: Dialect, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]) -> Statement:
    """Changes the rows that have these values to have those."""
    place = _mark(dialect)
    return Statement(
        f"UPDATE {table.name} SET {', '.join(f'{column} = {place}' for column in values)}"  # noqa: S608
        f" WHERE {' AND '.join(f'{column} = {place}' for column in where)}",
        _preparer(dialect, table, (*values, *where))((*values.values(), *where.values())),
    )


def removal(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> Statement:
    """Removes the rows that have one of these values in each of these columns."""
    conditions = [f"{column} IN {_group(dialect, len(values))}" for column, values in where.items()]
    return Statement(
        f"DELETE FROM {table.name} WHERE {' AND '.join(conditions)}",  # noqa: S608
        [value for values in where.values() for value in values],
    )


def deletion(dialect: Dialect, table: Table, key: str, keys: Iterable[Any]) -> Iterator[Statement]:
    """Removes all rows with one of these keys."""
    for some in _chunks(list(keys), MOST_PARAMETERS):
        yield query(dialect, f"DELETE FROM {table.name} WHERE {key} IN (...)", some)  # noqa: S608


def _mark(dialect: Dialect) -> str:
    """How the driver writes the place of a value."""
    return "?" if dialect.paramstyle == "qmark" else "%s"


def _group(dialect: Dialect, size: int) -> str:
    return f"({', '.join([_mark(dialect)] * size)})"


def _chunks(rows: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))


@lru_cache(maxsize=256)
def _preparer(dialect: Dialect, table: Table, columns: tuple[str, ...]) -> Callable[[Row], Row]:
    """Values in the form in which this driver takes them: SQLite has no times."""
    processors = [table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in columns]
    if not any(processors):
        return lambda row: row
    return lambda row: [
        value if processor is None or value is None else processor(value)
        for processor, value in zip(processors, row, strict=True)
    ]
