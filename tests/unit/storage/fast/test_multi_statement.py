# SPDX-License-Identifier: Apache-2.0

"""Statements with their values in them, several in a message."""

from datetime import datetime
from enum import IntEnum

import pytest

from plimsoll.storage.errors import TooLong
from plimsoll.storage.fast import multi_statement as m
from plimsoll.storage.sql import Statement

TRICKY = ["it's", "'", "''", "\\", "\\'", "a\0b", "'; DROP TABLE t; --"]
MUCH = 1 << 20


class Derived(str):
    pass


class Number(IntEnum):
    ONE = 1


def quote(text: str) -> str:
    return f"<{text}>"


def test_values_are_put_in() -> None:
    statement = Statement(
        "INSERT INTO t VALUES (%s, %s, %s, %s, %s)",
        [1, "100 %s %d %%", None, datetime(2026, 11, 16, 1, 2, 3), datetime(2026, 11, 16, 1, 2, 3, 4)],
    )
    assert m.filled(statement, quote) == (
        "INSERT INTO t VALUES (1, '100 %s %d %%', NULL, '2026-11-16 01:02:03', '2026-11-16 01:02:03.000004')"
    )


@pytest.mark.parametrize("text", TRICKY)
def test_texts_are_quoted_by_the_connection_where_that_takes_more_than_quotes(text: str) -> None:
    statement = Statement("INSERT INTO t VALUES (%s, %s, %s, %s)", [1, "100 %s", text, None])
    assert m.filled(statement, quote) == f"INSERT INTO t VALUES (1, <100 %s>, <{text}>, NULL)"


@pytest.mark.parametrize("text", TRICKY)
def test_a_text_is_quoted_whatever_else_is_in_the_message(text: str) -> None:
    statements = [
        Statement("SELECT 'x'"),
        Statement("SELECT %s", [text]),
        Statement("SELECT %s, %s", [2, "b"]),
    ]
    assert m.messages(statements, quote, MUCH) == [f"SELECT 'x';SELECT <{text}>;SELECT 2, <b>"]


@pytest.mark.parametrize("value", [1.5, 16.0, 0.1, 1 / 3, 1e-05, 3.40282e38, 5e-324])
def test_a_ratio_is_written_as_that_very_number_with_an_exponent(value: float) -> None:
    _, written = m.filled(Statement("SELECT %s", [value]), quote).split()
    assert float(written) == value
    assert "e" in written


def test_a_statement_without_values_stays_as_it_is() -> None:
    assert m.filled(Statement("SELECT 1 LIKE '%s'"), quote) == "SELECT 1 LIKE '%s'"


@pytest.mark.parametrize("value", [True, b"x", object(), Derived("x"), Number.ONE])
def test_nothing_else_is_put_into_a_statement(value: object) -> None:
    with pytest.raises(TypeError):
        m.filled(Statement("SELECT %s", [value]), quote)
    with pytest.raises(TypeError):
        m.messages([Statement("SELECT 1"), Statement("SELECT %s, %s", [1, value])], quote, MUCH)


@pytest.mark.parametrize("values", [[1], [1, 2, 3]])
def test_each_value_has_its_place(values: list[int]) -> None:
    with pytest.raises(TypeError):
        m.filled(Statement("SELECT %s, %s", values), quote)


def test_messages_are_as_few_as_can_be_and_none_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "LONGEST", 8)
    statements = [Statement(sql) for sql in ("aaa", "bbb", "c", "too long", "d", "e")]
    assert list(m.messages(statements, quote, MUCH)) == ["aaa;bbb", "c", "too long", "d;e"]
    assert list(m.messages(statements[:1], quote, MUCH)) == ["aaa"]


def test_the_values_count_for_the_length_of_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "LONGEST", 30)
    statements = [Statement("SELECT %s", [text]) for text in ("a" * 10, "b" * 30, "c", "d")]
    texts = [f"SELECT '{text}'" for text in ("a" * 10, "b" * 30)]
    assert m.messages(statements, quote, MUCH) == [*texts, "SELECT 'c';SELECT 'd'"]


def test_the_length_of_a_message_is_counted_in_bytes() -> None:
    faces = "\N{GRINNING FACE}" * 10
    statements = [Statement("SELECT %s", [faces]) for _ in range(3)]
    each = f"SELECT '{faces}'"
    assert m.messages(statements, quote, 3 * len(each.encode()) + 3) == [";".join([each] * 3)]
    assert m.messages(statements, quote, 3 * len(each.encode()) - 1) == [f"{each};{each}", each]


def test_a_statement_that_the_server_does_not_take_is_refused_before_anything_is_sent() -> None:
    statements = [Statement("SELECT 1"), Statement("SELECT %s", ["\N{GRINNING FACE}" * 10])]
    with pytest.raises(TooLong, match=r"takes 50 bytes, the limit is 49\."):
        m.messages(statements, quote, 49)
