# SPDX-License-Identifier: Apache-2.0

"""Several statements in one message to a server, with their values in them, and the answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from plimsoll.storage.statements import Statement

LONGEST = 4 << 20
"""Characters in one message. MariaDB takes 16 MB, if it is not told otherwise."""

Quote = Callable[[str], str]
"""Makes of a text what stands for it in a statement, by the rules of one connection."""


def messages(statements: Iterable[Statement], quote: Quote) -> list[str]:
    """As few as can be, none of them longer than servers take as they come."""
    written = {**_WRITTEN, str: quote}
    some: list[str] = []
    full: list[str] = []
    length = 0
    for statement in statements:
        text = _filled(statement, written)
        if some and length + len(text) > LONGEST:
            full.append(";".join(some))
            some, length = [], 0
        some.append(text)
        length += len(text)
    return [*full, ";".join(some)]


def filled(statement: Statement, quote: Quote) -> str:
    """A statement with its values in it. The drivers' own ways take several times as long."""
    return _filled(statement, {**_WRITTEN, str: quote})


def _filled(statement: Statement, written: Mapping[type, Callable[[Any], str]]) -> str:
    sql, values = statement
    if not values:
        return sql
    try:
        # Most are whole numbers, which are written as they are.
        return sql % tuple([value if type(value) is int else written[type(value)](value) for value in values])
    except KeyError as kind:
        raise TypeError(f"no statement has a place for a value of {kind}") from None


def _number(value: float) -> str:
    """With an exponent, without which MariaDB would take it for a decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


_WRITTEN: dict[type, Callable[[Any], str]] = {
    float: _number,
    type(None): lambda _: "NULL",
    datetime: lru_cache(maxsize=16)(lambda time: f"'{time.isoformat(' ')}'"),  # one for many rows
}


def answers_of(cursor: Any) -> list[list[Any]]:
    """Of a cursor that has run a message: the rows of each statement."""
    answers = [_rows(cursor)]
    while cursor.nextset():
        answers.append(_rows(cursor))
    return answers


def _rows(cursor: Any) -> list[Any]:
    return list(cursor.fetchall()) if cursor.description else []
