# SPDX-License-Identifier: Apache-2.0

"""SQL text of the statements of writes: SQLAlchemy takes longer to compile them than the database to run them.

The dialect runs them together, in one round trip if the driver can. Names of tables and columns come from the code
only; values are always parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import DateTime, Dialect, Table

Row = Sequence[Any]

MAX_PARAMETERS = 5_000
"""Parameters of one statement. SQLite allows 32,766, but a statement must also fit into MariaDB's smallest usual packet
of 1 MB, and SQLite runs it without yielding to other requests."""


MAX_UPDATED = 250
"""Rows that one statement updates: databases compare the key of each row with all keys of the statement."""


class Statement(NamedTuple):
    """SQL text with a placeholder for each value. If placeholders are `%s`, it contains no other percent sign."""

    sql: str
    values: Sequence[Any] = ()


class Columns(NamedTuple):
    """Columns of a table, in the order of the values in a row."""

    table: Table
    names: tuple[str, ...]


def utc_now() -> datetime:
    """Return the current time as the schema stores it: UTC, without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)


@lru_cache(maxsize=16)  # the rows of a batch have few different times
def format_time(dialect: Dialect, time: datetime) -> str:
    """Return a time as text that this database parses; SQLite stores this text."""
    return _time_formatter(dialect)(time)


@lru_cache(maxsize=16)
def _time_formatter(dialect: Dialect) -> Callable[[datetime], str]:
    return DateTime().dialect_impl(dialect).bind_processor(dialect) or str


def query(dialect: Dialect, sql: str, values: Sequence[Any]) -> Statement:
    """Return a query whose one `IN (...)` has these values."""
    return Statement(_query(dialect, sql, len(values)), values)


@lru_cache(maxsize=128)
def _query(dialect: Dialect, sql: str, size: int) -> str:
    return sql.replace("(...)", _placeholders(dialect, size))


def queries(dialect: Dialect, sql: str, values: Sequence[Any]) -> list[Statement]:
    """Split a query with `IN (...)` by MAX_PARAMETERS; the results together are those of one query."""
    return [query(dialect, sql, chunk) for chunk in _chunks(values, MAX_PARAMETERS)]


def insert_rows(dialect: Dialect, columns: Columns, rows: Sequence[Row]) -> list[Statement]:
    """Return the statements that insert rows."""
    prefix, placeholders, max_rows = _insert_rows(dialect, columns)
    if len(rows) > max_rows:
        return [each for chunk in _chunks(rows, max_rows) for each in insert_rows(dialect, columns, chunk)]
    return [Statement(prefix + ", ".join([placeholders] * len(rows)), [*chain.from_iterable(rows)])]


@lru_cache(maxsize=256)
def _insert_rows(dialect: Dialect, columns: Columns) -> tuple[str, str, int]:
    table, names = columns
    prefix = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES "  # noqa: S608
    return prefix, _placeholders(dialect, len(names)), MAX_PARAMETERS // len(names)


def update_rows(
    dialect: Dialect, columns: Columns, rows: Sequence[Row], constant: tuple[str, Any]
) -> list[Statement]:
    """Return the statements that update rows by their first column, the key.

    `constant` is one more column and its value, the same for all rows.
    """
    table, (key, *names) = columns
    constant_name, constant_value = constant
    if len(rows) == 1:
        (value, *values) = rows[0]
        sql = _update_where(dialect, table, (*names, constant_name), (key,))
        return [Statement(sql, [*values, constant_value, value])]
    prefix, when = _update_rows(dialect, columns, constant_name)
    statements = []
    for chunk in _chunks(rows, MAX_UPDATED):
        keys, *each = zip(*chunk, strict=True)
        cases = [chain.from_iterable(zip(keys, values, strict=True)) for values in each]
        sql = prefix.replace(when, when * len(chunk)) + _placeholders(dialect, len(chunk))
        statements.append(Statement(sql, [*chain.from_iterable(cases), constant_value, *keys]))
    return statements


@lru_cache(maxsize=64)
def _update_rows(dialect: Dialect, columns: Columns, constant_name: str) -> tuple[str, str]:
    """Return the statement for one row, without its keys, and the part to repeat for each row."""
    table, (key, *names) = columns
    placeholder = _placeholder(dialect)
    when = f" WHEN {placeholder} THEN {placeholder}"
    # ELSE with the column gives the CASE a type if all values are NULL.
    cases = [f"{name} = CASE {key}{when} ELSE {name} END" for name in names]
    assignments = f"{', '.join(cases)}, {constant_name} = {placeholder}"
    return f"UPDATE {table.name} SET {assignments} WHERE {key} IN ", when  # noqa: S608


def update_where(
    dialect: Dialect, table: Table, where: Mapping[str, Any], values: Mapping[str, Any]
) -> Statement:
    """Return the statement that sets `values` in the rows that match `where`."""
    sql = _update_where(dialect, table, tuple(values), tuple(where))
    return Statement(sql, [*values.values(), *where.values()])


@lru_cache(maxsize=64)
def _update_where(dialect: Dialect, table: Table, columns: tuple[str, ...], where: tuple[str, ...]) -> str:
    placeholder = _placeholder(dialect)
    return (
        f"UPDATE {table.name} SET {', '.join(f'{column} = {placeholder}' for column in columns)}"  # noqa: S608
        f" WHERE {' AND '.join(f'{column} = {placeholder}' for column in where)}"
    )


def delete_where(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> list[Statement]:
    """Return the statements that delete the rows with one of the values in each column.

    Only the last column may have many values.
    """
    *_, last = where
    return [
        _delete_where(dialect, table, {**where, last: chunk})
        for chunk in _chunks(where[last], MAX_PARAMETERS // 2)
    ]


def _delete_where(dialect: Dialect, table: Table, where: Mapping[str, Sequence[Any]]) -> Statement:
    conditions = [f"{column} IN {_placeholders(dialect, len(values))}" for column, values in where.items()]
    return Statement(
        f"DELETE FROM {table.name} WHERE {' AND '.join(conditions)}",  # noqa: S608
        [*chain.from_iterable(where.values())],
    )


def delete_by_key(dialect: Dialect, table: Table, key: str, keys: Sequence[Any]) -> list[Statement]:
    """Return the statements that delete all rows with one of these keys."""
    sql = f"DELETE FROM {table.name} WHERE {key} IN (...)"  # noqa: S608
    return queries(dialect, sql, keys)


def _placeholder(dialect: Dialect) -> str:
    """Return the placeholder for a value that the driver uses."""
    return "?" if dialect.paramstyle == "qmark" else "%s"


def _placeholders(dialect: Dialect, size: int) -> str:
    return f"({', '.join([_placeholder(dialect)] * size)})"


def _chunks(rows: Sequence[Any], size: int) -> Sequence[Sequence[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
