# SPDX-License-Identifier: Apache-2.0

"""Values that are written into statements, and statements that are joined into messages."""

from datetime import datetime
from enum import IntEnum

import pytest

from plimsoll.runtime.threads import Threads
from plimsoll.storage.dialects.statements import CommitFailed
from plimsoll.storage.errors import StatementTooLong
from plimsoll.storage.fast import multi_statement as m
from plimsoll.storage.sql import Statement

NEEDS_QUOTING = ["it's", "'", "''", "\\", "\\'", "a\0b", "'; DROP TABLE t; --"]
NO_LIMIT = 1 << 20


class Derived(str):
    pass


class Number(IntEnum):
    ONE = 1


def quote(text: str) -> str:
    return f"<{text}>"


def pause() -> None:
    pass


def test_values_are_written_into_a_statement() -> None:
    statement = Statement(
        "INSERT INTO t VALUES (%s, %s, %s, %s, %s)",
        [1, "100 %s %d %%", None, datetime(2026, 11, 16, 1, 2, 3), datetime(2026, 11, 16, 1, 2, 3, 4)],
    )
    assert m.render_statement(statement, quote) == (
        "INSERT INTO t VALUES (1, '100 %s %d %%', NULL, '2026-11-16 01:02:03', '2026-11-16 01:02:03.000004')"
    )


@pytest.mark.parametrize("text", NEEDS_QUOTING)
def test_texts_with_special_characters_are_quoted_by_the_rules_of_the_connection(text: str) -> None:
    statement = Statement("INSERT INTO t VALUES (%s, %s, %s, %s)", [1, "100 %s", text, None])
    assert m.render_statement(statement, quote) == f"INSERT INTO t VALUES (1, <100 %s>, <{text}>, NULL)"


@pytest.mark.parametrize("text", NEEDS_QUOTING)
def test_a_text_is_quoted_in_a_message_of_several_statements(text: str) -> None:
    statements = [
        Statement("SELECT 'x'"),
        Statement("SELECT %s", [text]),
        Statement("SELECT %s, %s", [2, "b"]),
    ]
    assert list(m.build_messages(statements, quote, NO_LIMIT, pause)) == [
        f"SELECT 'x';SELECT <{text}>;SELECT 2, <b>"
    ]


@pytest.mark.parametrize("value", [1.5, 16.0, 0.1, 1 / 3, 1e-05, 3.40282e38, 5e-324])
def test_a_ratio_is_written_exactly_and_with_an_exponent(value: float) -> None:
    _, written = m.render_statement(Statement("SELECT %s", [value]), quote).split()
    assert float(written) == value
    assert "e" in written


def test_a_statement_without_values_is_not_changed() -> None:
    assert m.render_statement(Statement("SELECT 1 LIKE '%s'"), quote) == "SELECT 1 LIKE '%s'"


@pytest.mark.parametrize("value", [True, b"x", object(), Derived("x"), Number.ONE])
def test_values_of_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        m.render_statement(Statement("SELECT %s", [value]), quote)
    with pytest.raises(TypeError):
        list(
            m.build_messages(
                [Statement("SELECT 1"), Statement("SELECT %s, %s", [1, value])], quote, NO_LIMIT, pause
            )
        )


@pytest.mark.parametrize("values", [[1], [1, 2, 3]])
def test_a_wrong_number_of_values_is_refused(values: list[int]) -> None:
    with pytest.raises(TypeError):
        m.render_statement(Statement("SELECT %s, %s", values), quote)


def test_there_are_as_few_messages_as_the_limit_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "MAX_MESSAGE_BYTES", 8)
    statements = [Statement(sql) for sql in ("aaa", "bbb", "c", "too long", "d", "e")]
    assert list(m.build_messages(statements, quote, NO_LIMIT, pause)) == ["aaa;bbb", "c", "too long", "d;e"]
    assert list(m.build_messages(statements[:1], quote, NO_LIMIT, pause)) == ["aaa"]


def test_the_length_of_a_message_includes_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m, "MAX_MESSAGE_BYTES", 30)
    statements = [Statement("SELECT %s", [text]) for text in ("a" * 10, "b" * 30, "c", "d")]
    texts = [f"SELECT '{text}'" for text in ("a" * 10, "b" * 30)]
    assert list(m.build_messages(statements, quote, NO_LIMIT, pause)) == [*texts, "SELECT 'c';SELECT 'd'"]


def test_the_length_of_a_message_is_counted_in_bytes() -> None:
    faces = "\N{GRINNING FACE}" * 10
    statements = [Statement("SELECT %s", [faces]) for _ in range(3)]
    each = f"SELECT '{faces}'"
    assert list(m.build_messages(statements, quote, 3 * len(each.encode()) + 3, pause)) == [
        ";".join([each] * 3)
    ]
    assert list(m.build_messages(statements, quote, 3 * len(each.encode()) - 1, pause)) == [
        f"{each};{each}",
        each,
    ]


def test_a_statement_over_the_limit_of_the_server_is_refused() -> None:
    statements = [Statement("SELECT 1"), Statement("SELECT %s", ["\N{GRINNING FACE}" * 10])]
    with pytest.raises(StatementTooLong, match=r"takes 50 bytes, the limit is 49\."):
        list(m.build_messages(statements, quote, 49, pause))


class Server:
    """Accepts messages of 12 bytes, and fails at a message that contains `failing`."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def execute_message(self, connection: object, message: str) -> list[list[str]]:
        self.messages.append(message)
        if "failing" in message:
            raise ConnectionError
        return [[each] for each in message.split(";")]

    def max_message_bytes(self, connection: object) -> int:
        return 12

    def quote(self, connection: object) -> m.Quote:
        return quote

    def as_one_statement(self, message: str) -> str:
        return f"({message})"


def test_the_rows_of_all_messages_are_returned_in_order() -> None:
    server = Server()
    statements = [Statement(sql) for sql in ("aaa", "bbb", "cccccccc")]
    rows = m.MultiStatementSender(server, Threads()).run(None, statements)
    assert rows == [["aaa"], ["bbb"], ["cccccccc"]]
    assert server.messages == ["aaa;bbb", "cccccccc"]


def test_the_last_message_contains_the_commit() -> None:
    server = Server()
    statements = [Statement(sql) for sql in ("aaaaaaaa", "bbb")]
    m.MultiStatementSender(server, Threads()).commit(None, statements)
    assert server.messages == ["(aaaaaaaa)", "(bbb;COMMIT)"]


@pytest.mark.parametrize(("first", "error"), [("failing", ConnectionError), ("fail", CommitFailed)])
def test_only_the_message_with_the_commit_leaves_the_outcome_unknown(
    first: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(m, "COMMIT", Statement("failing"))
    server = Server()
    with pytest.raises(error):
        m.MultiStatementSender(server, Threads()).commit(None, [Statement(first), Statement("b")])
    assert len(server.messages) == 2 - (first == "failing")
