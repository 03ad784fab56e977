# SPDX-License-Identifier: Apache-2.0

"""Statements that a session of PostgreSQL reads and plans once, and is then told by name.

To read and to plan a short statement takes longer than to run it, and writes say the same few over and over.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence

from plimsoll.storage.sql import Statement

MOST = 256
"""Statements that a session knows by name."""
MOST_VALUES = 100
"""In one of them: those for many rows are seldom for as many again."""

_Call = tuple[str, str]
"""The name of a statement, and the words by which it is told."""


class PreparedNames:
    """What one session knows. First `told`, and `remember` if it was done: else nobody knows how far it came."""

    __slots__ = ("_known", "_names", "_new")

    def __init__(self) -> None:
        # Nobody else has these, lest a pool in between lead us to the statement of another under the same name. Nor is one
        # given twice: what became of it is not known if its message failed.
        begin = f"plimsoll_{secrets.token_hex(8)}"
        self._names = (f"{begin}_{number}" for number in itertools.count(1))
        self._known: dict[str, _Call] = {}
        """By the words of the statements."""
        self._new: dict[str, _Call] = {}

    def told(self, statements: Sequence[Statement]) -> list[Statement]:
        """The same statements, by their names; those that are new are given one."""
        self._new = {}
        spoken: list[Statement] = []
        if len(self._known) > MOST:
            spoken += [Statement(f"DEALLOCATE {name}") for name, _ in self._known.values()]
            self._known = {}
        for each in statements:
            sql, values = each
            if not values or len(values) > MOST_VALUES:
                spoken.append(each)
                continue
            call = self._known.get(sql) or self._new.get(sql)
            if call is None:
                name = next(self._names)
                call = self._new[sql] = name, f"EXECUTE {name}({', '.join(['%s'] * len(values))})"
                spoken.append(Statement(f"PREPARE {name} AS {_numbered(sql)}"))
            spoken.append(Statement(call[1], values))
        return spoken

    def remember(self) -> None:
        self._known |= self._new
        self._new = {}


def _numbered(sql: str) -> str:
    """With the numbers of the values in their places."""
    first, *rest = sql.split("%s")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))
