# SPDX-License-Identifier: Apache-2.0

"""Texts that are put into statements by ourselves mean themselves, whatever a server is set to."""

from collections.abc import Iterator

import pytest

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


def opened(url: str, engine: str, setting: str | None) -> Database:
    if engine == "postgresql":
        joint = "&" if "?" in url else "?"
        return Database(f"{url}{joint}options=-c%20standard_conforming_strings%3D{setting}")
    return Database(url, DatabaseOptions(mysql_sql_mode=setting))


@pytest.fixture
def every_way(databases: Databases) -> Iterator[list[Database]]:
    if databases.engine not in SETTINGS:
        pytest.skip("SQLite is given values apart from statements")
    with databases.fresh() as url:
        ways = [opened(url, databases.engine, setting) for setting in SETTINGS[databases.engine]]
        yield ways
        for database in ways:
            database.dispose()


def test_texts_mean_themselves(every_way: list[Database]) -> None:
    for database in every_way:
        asked = [Statement("SELECT %s, %s", [text, "next"]) for text in TEXTS]
        with database.read() as conn:
            answers = database.ask_together(conn, asked)
            one_by_one = [database.ask_together(conn, [each])[0] for each in asked]
        expected = [[(text, "next")] for text in TEXTS]
        assert [[tuple(row) for row in rows] for rows in answers] == expected
        assert [[tuple(row) for row in rows] for rows in one_by_one] == expected
