# SPDX-License-Identifier: Apache-2.0

"""The one pen of a ledger: whoever holds it writes, for all who wait for it.

Everybody waits for themselves: whoever lays the pen down wakes one who still has something to write, and nobody else.
Those whose work is done are woken one by one when it is. (With one condition for all, everybody wakes at every turn,
and they get in each other's way.)
"""

from __future__ import annotations

import threading
from collections import deque


class Waiter:
    """Somebody who wants the pen, or to be told that it is not needed any more."""

    __slots__ = ("_asleep", "done")

    def __init__(self) -> None:
        self.done = False
        self._asleep = threading.Lock()
        self._asleep.acquire()

    def finish(self) -> None:
        """What this one has waited for is done. Only whoever holds the pen may say so, and once."""
        self.done = True
        self._asleep.release()

    def wake(self) -> None:
        self._asleep.release()

    def sleep(self) -> None:
        self._asleep.acquire()


class Pen:
    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._held = False
        self._waiting: deque[Waiter] = deque()

    def taken_by(self, waiter: Waiter) -> bool:
        """Waits for the pen and says True; or says False, without it, as soon as the waiter is done."""
        with self._changing:
            if not self._held:
                self._held = True
                return True
            self._waiting.append(waiter)
        waiter.sleep()
        return not waiter.done

    def lay_down(self) -> None:
        """Passes the pen to the next one who is not done yet."""
        with self._changing:
            while self._waiting:
                following = self._waiting.popleft()
                if not following.done:
                    following.wake()
                    return
            self._held = False
