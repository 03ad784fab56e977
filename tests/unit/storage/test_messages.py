# SPDX-License-Identifier: Apache-2.0

"""Statements with their values in them, several in a message."""

from datetime import datetime

import pytest

from plimsoll.storage.dialects import messages as m
from plimsoll.storage.statements import Statement


def quote(text: str) -> str:
    return f"<{text}>"


def test_values_are_put_in_and_texts_are_quoted_by_the_connection() -> None:
    statement = Statement(
        "INSERT INTO t VALUES (%s, %s, %s, %s, %s)",
        [1, "100 %s", None, datetime(2026, 11, 16, 1, 2, 3), datetime(2026, 11, 16, 1, 2, 3, 4)],
    )
    assert m.filled(statement, quote) == (
        "INSERT INTO t VALUES (1, <100 %s>, NULL, '2026-11-16 01:02:03', '2026-11-16 01:02:03.000004')"
    )


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.5, "1.5e0"), (16.0, "16.0e0"), (0.1, "0.1e0"), (1e-05, "1e-05"), (3.40282e38, "3.40282e+38")],
)
def test_a_ratio_is_written_as_a_number_with_an_exponent(value: float, written: str) -> None:
    assert m.filled(Statement("SELECT %s", [value]), quote) == f"SELECT {written}"


def test_a_statement_without_values_stays_as_it_is() -> None:
    assert m.filled(Statement("SELECT 1 LIKE '%s'"), quote) == "SELECT 1 LIKE '%s'"


@pytest.mark.parametrize("value", [True, b"x", object()])
def test_nothing_else_is_put_into_a_statement(value: object) -> None:
    with pytest.raises(TypeError):
        m.filled(Statement("SELECT %s", [value]), quote)


def test_messages_are_as_few_as_can_be_and_none_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "LONGEST", 6)
    statements = [Statement(sql) for sql in ("aaa", "bbb", "c", "too long", "d", "e")]
    assert list(m.messages(statements, quote)) == ["aaa;bbb", "c", "too long", "d;e"]
    assert list(m.messages(statements[:1], quote)) == ["aaa"]
