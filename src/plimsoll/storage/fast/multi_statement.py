# SPDX-License-Identifier: Apache-2.0

"""Sends several statements as one message, with the values written into the SQL: one round trip for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Protocol

from plimsoll.runtime.base import Runtime
from plimsoll.storage.dialects.statements import COMMIT, CommitFailed
from plimsoll.storage.errors import StatementTooLong
from plimsoll.storage.sql import Statement

MAX_MESSAGE_BYTES = 1 << 20
"""The longest message that is built from several statements: it is in memory about five times while it is sent."""

FEW_VALUES = 5_000
"""Up to this many values, all statements are formatted in one step, which is fastest."""

Quote = Callable[[str], str]
"""Quotes a text for a statement, by the rules of one connection."""

# The format of each type of value. Other types are refused, including subclasses of these.
_FORMATS: Mapping[type, str] = {
    int: "%d",
    # All digits of a double, and an exponent: without one MariaDB reads a DECIMAL.
    float: "%.16e",
    str: "'%s'",
    datetime: "'%s'",
    type(None): "NULL%.0s",
}
_FORMATS_OF_QUOTED = {**_FORMATS, str: "%s"}


class MessageConnection(Protocol):
    """Operations of a server's dialect on messages."""

    def execute_message(self, connection: Any, message: str) -> list[list[Any]]:
        """Run a message of several statements on a driver connection. Return the rows of each statement."""

    def max_message_bytes(self, connection: Any) -> int:
        """Return how long a message the server accepts on a driver connection."""

    def quote(self, connection: Any) -> Quote:
        """Return the function that quotes a text by the rules of this driver connection."""

    def as_one_statement(self, message: str) -> str:
        """Return the message in a form in which an abort of the transaction by the server ends all of it."""


class MultiStatementSender:
    """Sends statements in as few messages as the server's limit allows; the last one contains the COMMIT."""

    def __init__(self, server: MessageConnection, runtime: Runtime) -> None:
        self._server = server
        self._runtime = runtime

    def run(self, connection: Any, statements: Sequence[Statement]) -> list[list[Any]]:
        results: list[list[Any]] = []
        for message in self._messages(connection, statements):
            results += self._server.execute_message(connection, message)
        return results

    def commit(self, connection: Any, statements: Sequence[Statement]) -> None:
        messages = self._messages(connection, [*statements, COMMIT])
        last = next(messages)
        for message in messages:
            self._server.execute_message(connection, self._server.as_one_statement(last))
            last = message
        try:
            self._server.execute_message(connection, self._server.as_one_statement(last))
        except Exception as error:
            raise CommitFailed(error) from error

    def _messages(self, connection: Any, statements: Sequence[Statement]) -> Iterator[str]:
        quote, limit = self._server.quote(connection), self._server.max_message_bytes(connection)
        return build_messages(statements, quote, limit, self._runtime.periodic_yield())


def build_messages(
    statements: Sequence[Statement], quote: Quote, limit: int, pause: Callable[[], None]
) -> Iterator[str]:
    """Write statements into as few messages as the server's limit in bytes allows. Calls `pause` between statements.

    A message is rendered when it is taken, so that a large write is in memory only once. Raises StatementTooLong if
    one statement alone is longer than that.
    """
    if not statements:
        return iter(())
    if sum(map(_count_values, statements)) <= FEW_VALUES:
        sqls, values = zip(*statements, strict=True)
        message = render_statement(Statement(";".join(sqls), [*chain.from_iterable(values)]), quote)
        if length_in_bytes(message) <= min(MAX_MESSAGE_BYTES, limit):
            return iter([message])
    return _join((render_statement(each, quote) for each in statements), limit, pause)


def _join(texts: Iterable[str], limit: int, pause: Callable[[], None]) -> Iterator[str]:
    current: list[str] = []
    room = max_bytes = min(MAX_MESSAGE_BYTES, limit)
    for text in texts:
        length = length_in_bytes(text) + 1
        if length > limit:
            raise StatementTooLong(length, limit)
        if current and length > room:
            yield ";".join(current)
            current, room = [], max_bytes
        current.append(text)
        room -= length
        pause()
    yield ";".join(current)


def length_in_bytes(text: str) -> int:
    """Return the length in UTF-8, as servers count it."""
    return len(text) if text.isascii() else len(text.encode())


def _count_values(statement: Statement) -> int:
    return len(statement[1])


def render_statement(statement: Statement, quote: Quote) -> str:
    """Return the SQL of a statement with its values written into it. The drivers take several times as long."""
    sql, values = statement
    if not values:
        return sql
    formats = _format_string(sql, values, _FORMATS)
    text = formats % tuple(values)
    # Between single quotes no other character has a meaning on any server. Few texts have one of these.
    if text.count("'") == formats.count("'") and "\\" not in text and "\0" not in text:
        return text
    quoted = [quote(value) if type(value) is str else value for value in values]
    return _format_string(sql, values, _FORMATS_OF_QUOTED) % tuple(quoted)


def _format_string(sql: str, values: Sequence[Any], formats: Mapping[type, str]) -> str:
    """Return the SQL with the format of its type in the place of each value."""
    try:
        return sql % tuple(map(formats.__getitem__, map(type, values)))
    except KeyError as kind:
        raise TypeError(f"a value of {kind} cannot be written into a statement") from None


def fetch_results(cursor: Any) -> list[list[Any]]:
    """Return the rows of each statement of the message that a cursor has run."""
    results = [_rows(cursor)]
    while cursor.nextset():
        results.append(_rows(cursor))
    return results


def _rows(cursor: Any) -> list[Any]:
    return list(cursor.fetchall()) if cursor.description else []
