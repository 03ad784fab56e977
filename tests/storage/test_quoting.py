# SPDX-License-Identifier: Apache-2.0

"""Texts that we quote in statements keep their value, with all settings of the server."""

from collections.abc import Iterator

import pytest

from plimsoll.fast_paths import FastPaths
from plimsoll.storage.database import Database, DatabaseOptions
from plimsoll.storage.sql import Statement
from tests.support.databases import Databases

TEXTS = [
    "plain",
    "%",
    "",
    "it's",
    "''",
    "'; DROP TABLE resource_providers; --",
    "back\\slash",
    "\\",
    "\\'",
    "\\\\' OR 1=1 --",
    'say "yes"',
    "100 % %s %(name)s %d %%",
    "?",
    "line\nline\r\n\ttab\x1a",
    "ä ß € \N{GRINNING FACE}",
    "`tick` $1 :name E'x'",
]

SETTINGS: dict[str, list[str | None]] = {
    "mariadb": [None, "ANSI,NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,TRADITIONAL"],
    "postgresql": ["on", "off"],
}


def opened(url: str, engine: str, setting: str | None, fast_paths: FastPaths) -> Database:
    if engine == "postgresql":
        joint = "&" if "?" in url else "?"
        return Database(
            f"{url}{joint}options=-c%20standard_conforming_strings%3D{setting}", fast_paths=fast_paths
        )
    return Database(url, DatabaseOptions(mysql_sql_mode=setting), fast_paths=fast_paths)


@pytest.fixture
def databases_by_setting(databases: Databases, fast_paths: FastPaths) -> Iterator[list[Database]]:
    if databases.engine not in SETTINGS:
        pytest.skip("SQLite gets values as parameters")
    with databases.fresh() as url:
        opened_databases = [
            opened(url, databases.engine, setting, fast_paths) for setting in SETTINGS[databases.engine]
        ]
        yield opened_databases
        for database in opened_databases:
            database.dispose()


def test_quoted_texts_keep_their_value(databases_by_setting: list[Database]) -> None:
    for database in databases_by_setting:
        queries = [Statement("SELECT %s, %s", [text, "next"]) for text in TEXTS]
        with database.transaction() as transaction:
            results = transaction.run(queries)
            one_by_one = [transaction.run([each])[0] for each in queries]
        expected = [[(text, "next")] for text in TEXTS]
        assert [[tuple(row) for row in rows] for rows in results] == expected
        assert [[tuple(row) for row in rows] for rows in one_by_one] == expected
