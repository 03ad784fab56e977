# SPDX-License-Identifier: Apache-2.0

"""All there is to know about the tables of a database, and about the rows in them, to compare two databases.

SQLAlchemy tells what all engines have in common. What it does not tell (collations, storage engines, the exact
definition of an index) is asked of the server in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, inspect, text

from tests.support.databases import connected

OURS = {"plimsoll_head", "plimsoll_changes", "plimsoll_alembic_version"}

_POSTGRESQL = {
    "columns in its own words": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               pg_get_expr(d.adbin, d.adrelid), l.collname, pg_get_serial_sequence(c.relname, a.attname)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum""",
    "constraints in its own words": """
        SELECT c.relname, t.conname, pg_get_constraintdef(t.oid), t.convalidated
        FROM pg_constraint t JOIN pg_class c ON c.oid = t.conrelid
        WHERE c.relnamespace = 'public'::regnamespace ORDER BY t.conname""",
    "indexes in its own words": """
        SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef""",
}


def described(url: str) -> dict[str, dict[str, Any]]:
    """Each table of a database: its columns, its keys, its indexes, and all else that its makers decided."""
    with connected(url) as connection:
        return _described(connection)


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table, in one order."""
    with connected(url) as connection:
        return _rows(connection, table)


def table_names(url: str) -> set[str]:
    with connected(url) as connection:
        return set(inspect(connection).get_table_names())


def dump(url: str, *, with_ours: bool = False) -> dict[str, Any]:
    """Everything in a database, rows and all, without our own tables unless they are wanted too."""
    with connected(url) as connection:
        return {
            table: {**about, "rows": _rows(connection, table)}
            for table, about in _described(connection).items()
            if with_ours or table not in OURS
        }


def _described(connection: Connection) -> dict[str, dict[str, Any]]:
    found = inspect(connection)
    columns = {
        table: [(each["name"], str(each["type"]), each["nullable"], each["default"]) for each in listed]
        for (_, table), listed in found.get_multi_columns().items()
    }
    tables: dict[str, dict[str, Any]] = {table: {"columns": listed} for table, listed in columns.items()}
    others: dict[str, Any] = {
        "primary key": found.get_multi_pk_constraint(),
        "indexes": found.get_multi_indexes(),
        "unique": found.get_multi_unique_constraints(),
        "foreign keys": found.get_multi_foreign_keys(),
        "checks": found.get_multi_check_constraints(),
    }
    for what, by_table in others.items():
        for (_, table), about in by_table.items():
            tables[table][what] = about if isinstance(about, dict) else _sorted(about)
    for table, what, words in _in_its_own_words(connection, list(tables)):
        tables[table].setdefault(what, []).append(words)
    return tables


def _rows(connection: Connection, table: str) -> list[dict[str, Any]]:
    found = connection.execute(text(f"SELECT * FROM {table}")).mappings()
    return _sorted(dict(row) for row in found)


def _sorted(found: Any) -> list[Any]:
    return sorted(found, key=repr)


def _in_its_own_words(connection: Connection, tables: list[str]) -> Iterator[tuple[str, str, Any]]:
    match connection.dialect.name:
        case "postgresql":
            for what, query in _POSTGRESQL.items():
                for table, *words in connection.exec_driver_sql(query):
                    yield table, what, tuple(words)
        case "mysql" | "mariadb":
            for table in tables:
                definition = connection.execute(text(f"SHOW CREATE TABLE {table}")).one()[1]
                # Where the counter stands is no property of the table, nor is the order in which keys came.
                for line in sorted(
                    re.sub(r" AUTO_INCREMENT=\d+|,$", "", definition, flags=re.M).splitlines()
                ):
                    yield table, "definition", line
