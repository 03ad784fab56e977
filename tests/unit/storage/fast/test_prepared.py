# SPDX-License-Identifier: Apache-2.0

"""Statements that a session of PostgreSQL executes by name."""

import re

from plimsoll.storage.fast import prepared
from plimsoll.storage.fast.prepared import PreparedNames
from plimsoll.storage.sql import Statement

ADD = Statement("INSERT INTO t (a, b) VALUES (%s, %s)", [1, "x"])
COMMIT = Statement("COMMIT")


def sql_of(statements: list[Statement]) -> list[str]:
    """The SQL of statements, with N in the place of the random prefix of the names."""
    return [re.sub(r"plimsoll_[0-9a-f]{16}_", "N", each.sql) for each in statements]


def test_a_new_statement_is_prepared_and_executed_by_name() -> None:
    statements = PreparedNames().prepare([ADD, COMMIT])
    assert sql_of(statements) == [
        "PREPARE N1 AS INSERT INTO t (a, b) VALUES ($1, $2)",
        "EXECUTE N1(%s, %s)",
        "COMMIT",
    ]
    assert [each.values for each in statements] == [(), [1, "x"], ()]


def test_a_statement_that_occurs_twice_in_a_message_is_prepared_once() -> None:
    assert sql_of(PreparedNames().prepare([ADD, ADD]))[1:] == ["EXECUTE N1(%s, %s)"] * 2


def test_a_confirmed_statement_is_not_prepared_again() -> None:
    names = PreparedNames()
    names.prepare([ADD])
    names.confirm()
    assert sql_of(names.prepare([ADD])) == ["EXECUTE N1(%s, %s)"]


def test_an_unconfirmed_statement_gets_another_name() -> None:
    names = PreparedNames()
    names.prepare([ADD])
    assert sql_of(names.prepare([ADD]))[1:] == ["EXECUTE N2(%s, %s)"]


def test_two_sessions_use_different_names() -> None:
    assert PreparedNames().prepare([ADD])[1] != PreparedNames().prepare([ADD])[1]


def test_a_statement_with_many_values_is_not_prepared() -> None:
    many = Statement("SELECT %s", range(prepared.MAX_VALUES + 1))
    assert PreparedNames().prepare([many]) == [many]


def test_all_statements_are_deallocated_when_there_are_too_many() -> None:
    names = PreparedNames()
    for number in range(prepared.MAX_STATEMENTS + 1):
        names.prepare([Statement(f"SELECT {number}, %s", [1])])
        names.confirm()
    sql = sql_of(names.prepare([ADD]))
    assert sql[0] == "DEALLOCATE N1"
    assert sql[prepared.MAX_STATEMENTS] == f"DEALLOCATE N{prepared.MAX_STATEMENTS + 1}"
    assert sql[-1] == f"EXECUTE N{prepared.MAX_STATEMENTS + 2}(%s, %s)"
