# SPDX-License-Identifier: Apache-2.0

"""MySQL's answers, read by ourselves: what PyMySQL reads of the same."""

from collections.abc import Iterator
from typing import Any

import pymysql
import pytest
from sqlalchemy import make_url

from plimsoll.storage.fast.mysql_protocol import (
    Prepared,
    Unprepared,
    answers,
    often_asked,
)
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


NUMBERS = "SELECT a, b FROM often_asked"


@pytest.fixture
def numbers(connection: Any) -> Any:
    answers(
        connection,
        "CREATE TEMPORARY TABLE often_asked (a BIGINT, b BIGINT);INSERT INTO often_asked VALUES (-1, 0)",
    )
    return connection


@pytest.mark.parametrize("kind", [Prepared, Unprepared])
def test_what_is_asked_often_is_answered_anew_each_time(
    numbers: Any, kind: type[Prepared | Unprepared]
) -> None:
    query = kind(numbers, NUMBERS)
    for row in ((2, -(2**63)), (2**63 - 1, 4), (0, 255), (-1, -1)):
        answers(numbers, f"UPDATE often_asked SET a = {row[0]}, b = {row[1]}")
        query.say()
        assert query.heard() == row


def test_what_cannot_be_read_is_said_and_the_connection_goes_on(numbers: Any) -> None:
    with pytest.raises(pymysql.err.ProgrammingError):
        often_asked(numbers, "SELECT a FROM nowhere")
    query = often_asked(numbers, NUMBERS)
    assert isinstance(query, Prepared)
    answers(numbers, "DROP TEMPORARY TABLE often_asked")
    query.say()
    with pytest.raises(pymysql.err.ProgrammingError):
        query.heard()
    assert answers(numbers, "SELECT 1") == [[(1,)]]


def test_a_server_that_prepares_no_more_is_asked_all_the_same(numbers: Any) -> None:
    (((most,),),) = answers(numbers, "SELECT @@max_prepared_stmt_count")
    answers(numbers, "SET GLOBAL max_prepared_stmt_count = 0")
    try:
        query = often_asked(numbers, NUMBERS)
    finally:
        answers(numbers, f"SET GLOBAL max_prepared_stmt_count = {most}")
    query.say()
    assert isinstance(query, Unprepared)
    assert query.heard() == (-1, 0)
