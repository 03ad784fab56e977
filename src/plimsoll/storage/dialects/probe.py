# SPDX-License-Identifier: Apache-2.0

"""Asks a database server for the head, once for all who wait: the one query that every request costs.

Whoever comes while a question is under way waits for the next one, and shares it with all who came meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.storage.head import Head


class Probe:
    """One connection of a driver, outside of any transaction, so that it always sees what was last committed."""

    def __init__(self, connect: Callable[[], Any], ask: Callable[[Any], Sequence[Any]]) -> None:
        self._connect = connect
        self._ask_on = ask
        self._connection: Any = None
        self._turn = threading.Lock()
        self._asked = 0
        self._answer: Head | None = None

    def head(self) -> Head:
        """The head at some moment after this call began."""
        asked_before = self._asked
        with self._turn:
            # A question that was asked after we came, and answered while we waited, is answered for us too.
            if self._asked == asked_before or self._answer is None:
                self._asked += 1
                self._answer = None
                self._answer = self._ask_twice_at_most()
            return self._answer

    def close(self) -> None:
        with self._turn:
            self._hang_up()

    def _ask_twice_at_most(self) -> Head:
        if self._connection is not None:
            try:
                return self._ask()
            except Exception:
                self._hang_up()  # it may have died long ago, while nobody asked
        try:
            self._connection = self._connect()
            return self._ask()
        except Exception:
            self._hang_up()
            raise

    def _ask(self) -> Head:
        return Head(*self._ask_on(self._connection))

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()
