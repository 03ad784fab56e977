# SPDX-License-Identifier: Apache-2.0

"""The one pen of a ledger: whoever holds it writes, for all who wait for it.

Everybody waits for themselves: whoever lays the pen down wakes one who still has something to write, and nobody else.
Those whose work is done are woken one by one when it is. (With one condition for all, everybody wakes at every turn,
and they get in each other's way.)
"""

from __future__ import annotations

import threading
from collections import deque

from plimsoll.turns import Bell, bell


class Waiter:
    """Somebody who wants the pen, or to be told that it is not needed any more."""

    __slots__ = ("_bell", "done", "seen_to")

    def __init__(self) -> None:
        self.seen_to = False
        """Somebody else writes for this one, who has but to wait."""
        self.done = False
        self._bell: Bell | None = None
        """Of one who has to wait: most do not."""

    def finish(self) -> None:
        """What this one has waited for is done. Only whoever has seen to it may say so, and once."""
        self.done = True
        if self._bell is not None:  # else it looks whether it is done before it waits
            self._bell.ring()

    def get_ready(self) -> None:
        """To be woken, from now on."""
        if self._bell is None:
            self._bell = bell()

    def wake(self) -> None:
        assert self._bell is not None
        self._bell.ring()

    def sleep(self) -> None:
        self.get_ready()
        if not self.done:
            assert self._bell is not None
            self._bell.wait()


class Turn:
    """Of one who has taken the pen. It may be passed on before everything is done that it was taken for."""

    __slots__ = ("_has_it", "_pen")

    def __init__(self, pen: Pen) -> None:
        self._pen = pen
        self._has_it = True

    def pass_on(self) -> None:
        if self._has_it:
            self._has_it = False
            self._pen.lay_down()

    def come_back(self) -> None:
        """Waits for the pen, if it was passed on: something is to be written again."""
        if not self._has_it:
            self._pen.taken_by(Waiter())
            self._has_it = True


class Pen:
    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._held = False
        self._waiting: deque[Waiter] = deque()

    def taken_by(self, waiter: Waiter) -> bool:
        """Waits for the pen and says True; or says False, without it, as soon as the waiter is done."""
        with self._changing:
            if not waiter.seen_to:
                if not self._held:
                    self._held = True
                    return True
                waiter.get_ready()
                self._waiting.append(waiter)
        waiter.sleep()
        return not waiter.done

    def lay_down(self) -> None:
        """Passes the pen to the next one whom nobody has seen to yet."""
        with self._changing:
            while self._waiting:
                following = self._waiting.popleft()
                if not following.seen_to:
                    following.wake()
                    return
            self._held = False
