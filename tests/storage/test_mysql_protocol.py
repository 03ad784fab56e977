# SPDX-License-Identifier: Apache-2.0

"""Our reader of MySQL results returns the same rows as PyMySQL."""

from collections.abc import Iterator
from typing import Any

import pymysql
import pytest
from sqlalchemy import make_url

from plimsoll.runtime.threads import Threads
from plimsoll.storage.fast import mysql_protocol
from tests.support.databases import Databases

QUERIES = (
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
        pytest.skip("other databases have another protocol")
    with databases.fresh() as url:
        place = make_url(url)
        opened = pymysql.connect(
            host=place.host,
            port=place.port or 3306,
            user=place.username,
            database=place.database,
            charset="utf8mb4",
            client_flag=pymysql.constants.CLIENT.MULTI_STATEMENTS,
            ssl_disabled=True,
        )
        yield opened
        if opened.open:
            opened.close()


def pymysql_rows(connection: Any, query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall()) if cursor.description else []


def execute_message(connection: Any, message: str) -> list[list[tuple[Any, ...]]]:
    return mysql_protocol.execute_message(connection, message, Threads())


def test_all_kinds_of_results(connection: Any) -> None:
    found = execute_message(connection, ";".join(QUERIES))
    assert found == [pymysql_rows(connection, query) for query in QUERIES]


def test_the_first_error_stops_the_statements_and_the_connection_stays_usable(connection: Any) -> None:
    with pytest.raises(pymysql.err.IntegrityError) as raised:
        execute_message(
            connection,
            f"{QUERIES[5]};INSERT INTO t VALUES (7, 'a');INSERT INTO t VALUES (7, 'b');DO SLEEP(9)",
        )
    assert raised.value.args[0] == pymysql.constants.ER.DUP_ENTRY
    assert execute_message(connection, "SELECT b FROM t") == [[("a",)]]


def test_a_row_longer_than_a_packet(connection: Any) -> None:
    execute_message(connection, "SET GLOBAL max_allowed_packet = 64 * 1024 * 1024")
    connection.close()
    connection.connect()
    length = 17 * 1024 * 1024
    ((row,),) = execute_message(connection, f"SELECT REPEAT('x', {length}), 'end'")
    assert (len(row[0]), row[1]) == (length, "end")


def test_a_lost_connection_raises_the_error_of_pymysql(connection: Any) -> None:
    with pytest.raises(pymysql.err.OperationalError) as raised:
        execute_message(connection, "KILL CONNECTION_ID(); SELECT 1")
    assert raised.value.args[0] in (1317, 1927, 2013)
    with pytest.raises(pymysql.err.Error):
        execute_message(connection, "SELECT 1")


def test_a_message_can_be_sent_before_its_results_are_received(connection: Any) -> None:
    for number in (1, 2**63 - 1):
        mysql_protocol.send_message(connection, f"SELECT {number}, 2")
        assert mysql_protocol.receive_results(connection, Threads()) == [[(number, 2)]]


def test_long_results_are_read_with_yields(connection: Any) -> None:
    runtime = CountingRuntime()
    ((*rows,),) = mysql_protocol.execute_message(connection, "SELECT seq FROM seq_1_to_2000", runtime)
    assert rows == [(number,) for number in range(1, 2001)]
    assert runtime.yields == 4


class CountingRuntime(Threads):
    yields = 0

    def yield_now(self) -> None:
        self.yields += 1
