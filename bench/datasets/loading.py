# SPDX-License-Identifier: Apache-2.0

"""Load a dataset into a database by the fastest method of each driver: the largest has some million rows."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

from sqlalchemy import URL, make_url

from bench.datasets.rows import Rows
from bench.site.databases import for_libpq, mariadb_cursor


def fill(url: str, rows: Rows) -> None:
    """Fill the empty tables of a database, and advance its sequences past the written ids."""
    parsed = make_url(url)
    {"sqlite": _fill_sqlite, "mysql": _fill_mariadb, "postgresql": _fill_postgresql}[
        parsed.get_backend_name()
    ](parsed, rows)


def _fill_sqlite(url: URL, rows: Rows) -> None:
    with contextlib.closing(sqlite3.connect(url.database or "")) as connection:
        for table, content in rows.tables.items():
            placeholders = ", ".join("?" * len(rows.columns[table]))
            connection.executemany(
                f"INSERT INTO {table} ({', '.join(rows.columns[table])}) VALUES ({placeholders})",
                ((*map(str, row[:2]), *row[2:]) for row in content),
            )
        connection.commit()
        connection.execute("ANALYZE")
        connection.commit()


def _fill_mariadb(url: URL, rows: Rows) -> None:
    with mariadb_cursor(url) as cursor:
        # The first resource class has the id 0, which must not be replaced by an auto-increment value.
        cursor.execute("SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
        cursor.execute("SET foreign_key_checks = 0")
        cursor.execute("SET unique_checks = 0")
        for table, content in rows.tables.items():
            placeholders = ", ".join(["%s"] * len(rows.columns[table]))
            statement = f"INSERT INTO {table} ({', '.join(rows.columns[table])}) VALUES ({placeholders})"
            # The driver combines rows into statements up to the server's maximum length.
            cursor.executemany(statement, content)
        cursor.execute("COMMIT")
        cursor.execute(f"ANALYZE TABLE {', '.join(rows.tables)}")


def _fill_postgresql(url: URL, rows: Rows) -> None:
    import psycopg

    with psycopg.connect(for_libpq(url)) as connection, connection.cursor() as cursor:
        for table in _parents_first(rows):
            columns = ", ".join(rows.columns[table])
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows.tables[table]:
                    copy.write_row(row)
            if "id" in rows.columns[table]:
                cursor.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))"
                )
        connection.commit()
        connection.autocommit = True
        cursor.execute("VACUUM ANALYZE")


def _parents_first(rows: Rows) -> Iterator[str]:
    """Yield the tables, referenced ones before the tables that refer to them."""
    first = ("resource_classes", "traits", "consumer_types", "projects", "users", "resource_providers")
    yield from (table for table in first if table in rows.tables)
    yield from (table for table in rows.tables if table not in first)
