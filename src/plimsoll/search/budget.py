# SPDX-License-Identifier: Apache-2.0

"""The time budget of a search, and its pauses for other requests.

Combining providers can take exponentially many steps, and a worker runs all requests in one thread. Therefore every
loop whose length depends on the request reports its steps to a budget. The budget calls `pause` after a millisecond of
computing, then every 0.2 milliseconds, so that other requests run. It ends the search when the time is used up or the
client has closed its connection.
"""

from __future__ import annotations

import math
from collections.abc import Callable

FIRST_PAUSE_AFTER = 0.001
"""Seconds of computing before the first pause. Most searches end sooner and never pause."""
PAUSE_AFTER = 0.0002
"""Seconds of computing between two pauses: the delay for other requests. A pause costs some microseconds."""
_STEPS_PER_CHECK = 16
"""Steps between two reads of the clock. One step, in plain Python, takes 1 to 10 microseconds."""


class BudgetExceeded(Exception):
    """The time of the search is used up."""


class SearchCancelled(Exception):
    """The client has closed its connection: the result is not needed."""


class Budget:
    """The budget of one search."""

    __slots__ = ("_clock", "_deadline", "_is_cancelled", "_next_pause", "_pause", "_steps", "is_exceeded")

    def __init__(
        self,
        seconds: float = math.inf,
        *,
        clock: Callable[[], float] = lambda: 0.0,
        pause: Callable[[], None] = lambda: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._clock = clock
        self._pause = pause
        self._is_cancelled = is_cancelled
        now = clock()
        self._deadline = now + seconds
        self._next_pause = now + FIRST_PAUSE_AFTER
        self._steps = 0
        self.is_exceeded = False

    def spend(self, steps: int = 1) -> None:
        """Report steps of a loop. Raises BudgetExceeded or SearchCancelled."""
        self._steps += steps
        if self._steps >= _STEPS_PER_CHECK:
            self.check()

    def check(self) -> None:
        """Read the clock and pause if due. Raises BudgetExceeded or SearchCancelled."""
        self._steps = 0
        if self.pause_if_due() >= self._deadline:
            self.is_exceeded = True
            raise BudgetExceeded

    def pause_if_due(self) -> float:
        """Pause if due, without a deadline, for work that must complete (encoding the response). Return the time."""
        now = self._clock()
        if now >= self._next_pause:
            self._pause()
            if self._is_cancelled():
                raise SearchCancelled
            now = self._clock()
            self._next_pause = now + PAUSE_AFTER
        return now
