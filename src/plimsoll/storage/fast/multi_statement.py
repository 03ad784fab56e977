# SPDX-License-Identifier: Apache-2.0

"""Several statements in one message to a server, with their values in them, and the answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from plimsoll.runtime.scheduling import Pace
from plimsoll.storage.errors import TooLong
from plimsoll.storage.sql import Statement

LONGEST = 4 << 20
"""Bytes that are put together into one message, where the server takes as many."""

FEW_VALUES = 5_000
"""Values for which it is fastest to fill all statements at once."""

Quote = Callable[[str], str]
"""Makes of a text what stands for it in a statement, by the rules of one connection."""

# How a value of each kind is written. No other is put into a statement, nor one that is derived from one of these.
_MARKS: Mapping[type, str] = {
    int: "%d",
    # With all digits that a number can have, and an exponent, without which MariaDB would take it for a decimal.
    float: "%.16e",
    str: "'%s'",
    datetime: "'%s'",
    type(None): "NULL%.0s",
}
_QUOTED = {**_MARKS, str: "%s"}


def messages(statements: Sequence[Statement], quote: Quote, limit: int) -> list[str]:
    """Put statements into as few messages as the server's limit in bytes allows.

    Raises TooLong if one statement alone is longer than that.
    """
    if sum(map(_values, statements)) <= FEW_VALUES:
        sqls, values = zip(*statements, strict=True)
        whole = filled(Statement(";".join(sqls), [*chain.from_iterable(values)]), quote)
        if length_in_bytes(whole) <= min(LONGEST, limit):
            return [whole]
    return joined((filled(each, quote) for each in statements), limit)


def joined(texts: Iterable[str], limit: int) -> list[str]:
    """Join statements to messages of at most so many bytes. Other requests run between two statements."""
    some: list[str] = []
    full: list[str] = []
    pause = Pace()
    room = longest = min(LONGEST, limit)
    for text in texts:
        length = length_in_bytes(text) + 1
        if length > limit:
            raise TooLong(length, limit)
        if some and length > room:
            full.append(";".join(some))
            some, room = [], longest
        some.append(text)
        room -= length
        pause()
    return [*full, ";".join(some)]


def length_in_bytes(text: str) -> int:
    """In UTF-8, as servers count."""
    return len(text) if text.isascii() else len(text.encode())


def _values(statement: Statement) -> int:
    return len(statement[1])


def filled(statement: Statement, quote: Quote) -> str:
    """A statement with its values in it. The drivers' own ways take several times as long."""
    sql, values = statement
    if not values:
        return sql
    marked = _marked(sql, values, _MARKS)
    text = marked % tuple(values)
    # Between single quotes nothing else means anything, on any server. Texts seldom have one of these in them.
    if text.count("'") == marked.count("'") and "\\" not in text and "\0" not in text:
        return text
    quoted = [quote(value) if type(value) is str else value for value in values]
    return _marked(sql, values, _QUOTED) % tuple(quoted)


def _marked(sql: str, values: Sequence[Any], marks: Mapping[type, str]) -> str:
    """The statement, with the mark of its kind in the place of each value."""
    try:
        return sql % tuple(map(marks.__getitem__, map(type, values)))
    except KeyError as kind:
        raise TypeError(f"no statement has a place for a value of {kind}") from None


def answers_of(cursor: Any) -> list[list[Any]]:
    """Of a cursor that has run a message: the rows of each statement."""
    answers = [_rows(cursor)]
    while cursor.nextset():
        answers.append(_rows(cursor))
    return answers


def _rows(cursor: Any) -> list[Any]:
    return list(cursor.fetchall()) if cursor.description else []
