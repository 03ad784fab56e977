# SPDX-License-Identifier: Apache-2.0

"""Asks a database server for the head, once for all who wait: the one query that every request costs.

Questions are numbered. Who is alone begins to ask and gets on with something else. Where several are at work, each
relies on the next question, which the first who waits for it asks, once the others have come as far as they can.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from plimsoll.runtime.scheduling import AT_WORK, run_ready
from plimsoll.storage.head import BEGINNING, Head


class HeadProbe:
    """One connection of a driver, outside of any transaction, so that it always sees what was last committed."""

    def __init__(
        self, connect: Callable[[], Any], ask: Callable[[Any], None], hear: Callable[[Any], Sequence[Any]]
    ) -> None:
        self._connect = connect
        self._ask_on = ask
        self._hear_on = hear
        self._connection: Any = None
        self._turn = threading.Lock()
        self._asked = 0
        """The number of the last question that was asked."""
        self._under_way = False
        self._last = 0, BEGINNING
        """The last question that was answered, and the answer: the first one has the number 1."""

    def ask(self) -> int:
        """Begins to ask, if it can be done without waiting. The number of the question to hear the answer of."""
        if AT_WORK.count <= 1 and self._turn.acquire(False):
            try:
                if self._connection is not None and not self._under_way:
                    self._ask()
                    return self._asked
            except Exception:
                self._hang_up()  # whoever wants the answer finds out
            finally:
                self._turn.release()
        # Read before it is raised by whoever is asking just now: that question may be older than this call.
        return self._asked + 1

    def hear(self, number: int) -> Head:
        """The head at some moment after this question, or one after it, was asked."""
        answered, head = self._last
        if answered >= number:  # somebody else has heard it
            return head
        with self._turn:
            before = self._connection
            try:
                return self._heard(number)
            except Exception:
                may_have_died_long_ago = before is not None and self._connection is before
                self._hang_up()
                if not may_have_died_long_ago:
                    raise
            except BaseException:
                self._hang_up()
                raise
            try:
                return self._heard(number)
            except BaseException:
                self._hang_up()
                raise

    def close(self) -> None:
        with self._turn:
            self._hang_up()

    def _heard(self, number: int) -> Head:
        if self._connection is None:
            self._connection = self._connect()
        answered, head = self._last
        while answered < number:
            if not self._under_way:
                if AT_WORK.count > 1:
                    run_ready()  # requests that arrive before the query is sent share it
                self._ask()
            self._last = answered, head = self._asked, Head(*self._hear_on(self._connection))
            self._under_way = False
        return head

    def _ask(self) -> None:
        self._asked += 1
        self._under_way = True
        self._ask_on(self._connection)

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        self._under_way = False
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.close()
