# SPDX-License-Identifier: Apache-2.0

"""Named prepared statements, which a session of PostgreSQL parses and plans once.

To parse and plan a short statement takes longer than to run it, and writes use the same few statements again and again.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence

from plimsoll.storage.sql import Statement

MAX_STATEMENTS = 256
"""Prepared statements of a session. With more, all are deallocated."""
MAX_VALUES = 100
"""Values of a statement that is prepared: one for many rows is seldom repeated with the same number of rows."""

_Call = tuple[str, str]
"""The name of a prepared statement, and the SQL that executes it."""


class PreparedNames:
    """The prepared statements of one session.

    Call `prepare` before the message is sent, and `confirm` after it has succeeded. After a failure it is not known
    which statements the session has prepared.
    """

    __slots__ = ("_confirmed", "_names", "_new")

    def __init__(self) -> None:
        # Random, because a connection pool in between may share a session among clients. No name is used twice: after
        # a message has failed, the session may have prepared it or not.
        prefix = f"plimsoll_{secrets.token_hex(8)}"
        self._names = (f"{prefix}_{number}" for number in itertools.count(1))
        self._confirmed: dict[str, _Call] = {}
        """By the SQL of the statements."""
        self._new: dict[str, _Call] = {}

    def prepare(self, statements: Sequence[Statement]) -> list[Statement]:
        """Return the statements that execute these by name, with a PREPARE before each new one."""
        self._new = {}
        calls: list[Statement] = []
        if len(self._confirmed) > MAX_STATEMENTS:
            calls += [Statement(f"DEALLOCATE {name}") for name, _ in self._confirmed.values()]
            self._confirmed = {}
        for each in statements:
            sql, values = each
            if not values or len(values) > MAX_VALUES:
                calls.append(each)
                continue
            call = self._confirmed.get(sql) or self._new.get(sql)
            if call is None:
                name = next(self._names)
                call = self._new[sql] = name, f"EXECUTE {name}({', '.join(['%s'] * len(values))})"
                calls.append(Statement(f"PREPARE {name} AS {_with_dollar_parameters(sql)}"))
            calls.append(Statement(call[1], values))
        return calls

    def confirm(self) -> None:
        """Record that the session has prepared the new statements."""
        self._confirmed |= self._new
        self._new = {}


def _with_dollar_parameters(sql: str) -> str:
    """Return the SQL with `$1`, `$2`, ... in the places of the values."""
    first, *rest = sql.split("%s")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))
