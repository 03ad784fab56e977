# SPDX-License-Identifier: Apache-2.0

"""MySQL's answers, read by ourselves: what PyMySQL reads of the same."""

from collections.abc import Iterator
from typing import Any

import pymysql
import pytest
from sqlalchemy import make_url

from plimsoll.storage.dialects.packets import answers
from tests.support.databases import Databases

QUESTIONS = (
    "SELECT 1, -2, NULL, 'text', '', REPEAT('x', 250), REPEAT('y', 251), REPEAT('z', 70000)",
    "SELECT 9223372036854775807, 'ä\N{GRINNING FACE}', CAST('2026-11-16 01:02:03' AS DATETIME),"
    " CAST('2026-11-16 01:02:03.000450' AS DATETIME(6))",
    "SELECT * FROM (SELECT 1 AS a UNION SELECT 2) t ORDER BY a DESC",
    "SELECT 1 FROM DUAL WHERE FALSE",
    "SET @x = 1",
    "CREATE TEMPORARY TABLE IF NOT EXISTS t (id INT PRIMARY KEY, b TEXT)",
    "REPLACE INTO t VALUES (1, 'one'), (2, NULL)",
    "SELECT id, b FROM t",
)


@pytest.fixture
def connection(databases: Databases) -> Iterator[Any]:
    if databases.engine != "mariadb":
        pytest.skip("other databases speak otherwise")
    with databases.fresh() as url:
        place = make_url(url)
        made = pymysql.connect(
            host=place.host,
            port=place.port or 3306,
            user=place.username,
            database=place.database,
            charset="utf8mb4",
            client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
            ssl_disabled=True,
        )
        yield made
        if made.open:
            made.close()


def as_pymysql_reads(connection: Any, question: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return list(cursor.fetchall()) if cursor.description else []


def test_all_kinds_of_answers(connection: Any) -> None:
    found = answers(connection, ";".join(QUESTIONS))
    assert found == [as_pymysql_reads(connection, question) for question in QUESTIONS]


def test_the_first_error_ends_it_and_the_connection_goes_on(connection: Any) -> None:
    with pytest.raises(pymysql.err.IntegrityError) as raised:
        answers(
            connection,
            f"{QUESTIONS[5]};INSERT INTO t VALUES (7, 'a');INSERT INTO t VALUES (7, 'b');DO SLEEP(9)",
        )
    assert raised.value.args[0] == pymysql.constants.ER.DUP_ENTRY
    assert answers(connection, "SELECT b FROM t") == [[("a",)]]


def test_a_row_longer_than_a_packet(connection: Any) -> None:
    answers(connection, "SET GLOBAL max_allowed_packet = 64 * 1024 * 1024")
    connection.close()
    connection.connect()
    length = 17 * 1024 * 1024
    ((row,),) = answers(connection, f"SELECT REPEAT('x', {length}), 'end'")
    assert (len(row[0]), row[1]) == (length, "end")


def test_a_lost_connection_is_told_as_pymysql_tells_it(connection: Any) -> None:
    with pytest.raises(pymysql.err.OperationalError) as raised:
        answers(connection, "KILL CONNECTION_ID(); SELECT 1")
    assert raised.value.args[0] in (1317, 1927, 2013)
    with pytest.raises(pymysql.err.Error):
        answers(connection, "SELECT 1")
