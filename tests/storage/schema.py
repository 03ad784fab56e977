# SPDX-License-Identifier: Apache-2.0

"""Describe the tables and rows of a database completely, to compare two databases.

SQLAlchemy returns the properties that all engines have. Others (collations, storage engines, the exact definition of
an index) are queried from the catalog of the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, inspect, text

from tests.support.databases import open_connection

OWN_TABLES = {
    *("plimsoll_head", "plimsoll_changes", "plimsoll_epoch", "plimsoll_alembic_version"),
    *("plimsoll_unplaced", "plimsoll_unplaced_requests"),
}

_POSTGRESQL = {
    "columns in the catalog": """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
               pg_get_expr(d.adbin, d.adrelid), l.collname, pg_get_serial_sequence(c.relname, a.attname)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum""",
    "constraints in the catalog": """
        SELECT c.relname, t.conname, pg_get_constraintdef(t.oid), t.convalidated
        FROM pg_constraint t JOIN pg_class c ON c.oid = t.conrelid
        WHERE c.relnamespace = 'public'::regnamespace ORDER BY t.conname""",
    "indexes in the catalog": """
        SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexdef""",
}


def describe_schema(url: str) -> dict[str, dict[str, Any]]:
    """Return the columns, keys, indexes and other properties of each table."""
    with open_connection(url) as connection:
        return _describe_tables(connection)


def rows(url: str, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table in a fixed order."""
    with open_connection(url) as connection:
        return _rows(connection, table)


def table_names(url: str) -> set[str]:
    with open_connection(url) as connection:
        return set(inspect(connection).get_table_names())


def dump(url: str, *, with_ours: bool = False) -> dict[str, Any]:
    """Return the description and the rows of all tables; of our own tables only if `with_ours` is set.

    The epoch is masked: each new database has another one.
    """
    with open_connection(url) as connection:
        return {
            table: {**description, "rows": _rows(connection, table)}
            for table, description in _describe_tables(connection).items()
            if with_ours or table not in OWN_TABLES
        }


def _describe_tables(connection: Connection) -> dict[str, dict[str, Any]]:
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
    for part, by_table in others.items():
        for (_, table), content in by_table.items():
            tables[table][part] = content if isinstance(content, dict) else _sorted(content)
    for table, part, content in _engine_specific_parts(connection, list(tables)):
        tables[table].setdefault(part, []).append(content)
    return tables


def _rows(connection: Connection, table: str) -> list[dict[str, Any]]:
    found = connection.execute(text(f"SELECT * FROM {table}")).mappings()
    return _sorted({**row, "epoch": "any"} if "epoch" in row else dict(row) for row in found)


def _sorted(found: Any) -> list[Any]:
    return sorted(found, key=repr)


def _engine_specific_parts(connection: Connection, tables: list[str]) -> Iterator[tuple[str, str, Any]]:
    match connection.dialect.name:
        case "postgresql":
            for part, query in _POSTGRESQL.items():
                for table, *content in connection.exec_driver_sql(query):
                    yield table, part, tuple(content)
        case "mysql" | "mariadb":
            for table in tables:
                definition = connection.execute(text(f"SHOW CREATE TABLE {table}")).one()[1]
                # The value of the counter and the order of keys are no properties of the schema.
                for line in sorted(
                    re.sub(r" AUTO_INCREMENT=\d+|,$", "", definition, flags=re.M).splitlines()
                ):
                    yield table, "definition", line
