# SPDX-License-Identifier: Apache-2.0

"""Statements that a session is told by name."""

import re

from plimsoll.storage.fast import prepared
from plimsoll.storage.fast.prepared import PreparedNames
from plimsoll.storage.sql import Statement

ADD = Statement("INSERT INTO t (a, b) VALUES (%s, %s)", [1, "x"])
COMMIT = Statement("COMMIT")


def words(statements: list[Statement]) -> list[str]:
    """With N in the place of what tells the names of sessions apart."""
    return [re.sub(r"plimsoll_[0-9a-f]{16}_", "N", each.sql) for each in statements]


def test_what_is_new_is_given_a_name_and_told_by_it() -> None:
    told = PreparedNames().told([ADD, COMMIT])
    assert words(told) == [
        "PREPARE N1 AS INSERT INTO t (a, b) VALUES ($1, $2)",
        "EXECUTE N1(%s, %s)",
        "COMMIT",
    ]
    assert [each.values for each in told] == [(), [1, "x"], ()]


def test_what_is_said_twice_in_a_message_is_given_one_name() -> None:
    assert words(PreparedNames().told([ADD, ADD]))[1:] == ["EXECUTE N1(%s, %s)"] * 2


def test_what_was_done_is_known_the_next_time() -> None:
    known = PreparedNames()
    known.told([ADD])
    known.remember()
    assert words(known.told([ADD])) == ["EXECUTE N1(%s, %s)"]


def test_what_was_not_done_is_given_another_name() -> None:
    known = PreparedNames()
    known.told([ADD])
    assert words(known.told([ADD]))[1:] == ["EXECUTE N2(%s, %s)"]


def test_no_two_sessions_give_the_same_name() -> None:
    assert PreparedNames().told([ADD])[1] != PreparedNames().told([ADD])[1]


def test_many_values_are_told_as_they_are() -> None:
    many = Statement("SELECT %s", range(prepared.MOST_VALUES + 1))
    assert PreparedNames().told([many]) == [many]


def test_a_session_forgets_when_it_knows_too_many() -> None:
    known = PreparedNames()
    for number in range(prepared.MOST + 1):
        known.told([Statement(f"SELECT {number}, %s", [1])])
        known.remember()
    told = words(known.told([ADD]))
    assert told[0] == "DEALLOCATE N1"
    assert told[prepared.MOST] == f"DEALLOCATE N{prepared.MOST + 1}"
    assert told[-1] == f"EXECUTE N{prepared.MOST + 2}(%s, %s)"
