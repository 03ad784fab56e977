# SPDX-License-Identifier: Apache-2.0

"""Messages of several statements, with the values written into the SQL, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from plimsoll.runtime.scheduling import PeriodicYield
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


def build_messages(statements: Sequence[Statement], quote: Quote, limit: int) -> Iterator[str]:
    """Write statements into as few messages as the server's limit in bytes allows.

    A message is rendered when it is taken, so that a large write is in memory only once. Raises StatementTooLong if one statement alone is longer than that.
    """
    if sum(map(_count_values, statements)) <= FEW_VALUES:
        sqls, values = zip(*statements, strict=True)
        message = render_statement(Statement(";".join(sqls), [*chain.from_iterable(values)]), quote)
        if length_in_bytes(message) <= min(MAX_MESSAGE_BYTES, limit):
            return iter([message])
    return join_statements((render_statement(each, quote) for each in statements), limit)


def join_statements(texts: Iterable[str], limit: int) -> Iterator[str]:
    """Join statements into messages of at most `limit` bytes. Yields to other requests between statements.

    Raises StatementTooLong if one statement is longer than that.
    """
    current: list[str] = []
    yield_if_due = PeriodicYield()
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
        yield_if_due()
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
