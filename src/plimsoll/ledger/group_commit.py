# SPDX-License-Identifier: Apache-2.0

"""The one pen of a ledger: whoever holds it writes, for all who wait for it.

Everybody waits for themselves: whoever lays the pen down wakes one who still has something to write, and nobody else.
Those whose work is done are woken one by one when it is. (With one condition for all, everybody wakes at every turn,
and they get in each other's way.)
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque

from plimsoll.runtime.scheduling import Event, new_event


class NotInTime(Exception):
    """A waiter was neither finished nor given the pen."""


class Waiter:
    """Somebody who wants the pen, or to be told that it is not needed any more."""

    __slots__ = ("_bell", "done", "has_pen", "seen_to")

    def __init__(self) -> None:
        self.seen_to = False
        """Somebody else writes for this one, who has but to wait."""
        self.done = False
        self.has_pen = False
        """Whether the pen was passed to this one while it waited."""
        self._bell: Event | None = None
        """Of one who has to wait: most do not."""

    def finish(self) -> None:
        """What this one has waited for is done. Only whoever has seen to it may say so, and once."""
        self.done = True
        if self._bell is not None:  # else it looks whether it is done before it waits
            self._bell.ring()

    def get_ready(self) -> None:
        """To be woken, from now on."""
        if self._bell is None:
            self._bell = new_event()

    def wake(self) -> None:
        assert self._bell is not None
        self._bell.ring()

    def sleep(self, seconds: float = -1) -> bool:
        """Wait until this one is woken. False if it was not in time."""
        self.get_ready()
        if self.done:
            return True
        assert self._bell is not None
        return self._bell.wait(seconds)


class Lease:
    """Of one who has taken the pen. It may be passed on before everything is done that it was taken for."""

    __slots__ = ("_has_it", "_pen")

    def __init__(self, pen: GroupCommitLock) -> None:
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


class GroupCommitLock:
    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._held = False
        self._waiting: deque[Waiter] = deque()

    def taken_by(self, waiter: Waiter, seconds: float = -1) -> bool:
        """Wait for the pen and return True, or return False, without the pen, as soon as the waiter is done.

        Raises NotInTime if neither happens in time. Neither that nor an exception that ends the waiting thread or greenlet
        leaves the waiter in the queue: the pen would be passed to it, and all others would wait for ever.
        """
        with self._changing:
            waiter.has_pen = False
            if not waiter.seen_to:
                if not self._held:
                    self._held = True
                    return True
                waiter.get_ready()
                self._waiting.append(waiter)
        try:
            was_woken = waiter.sleep(seconds)
        except BaseException:
            if self._leave(waiter):
                self.lay_down()
            raise
        if not was_woken:
            if self._leave(waiter):
                waiter.sleep(0)  # the pen came with a signal, which must not end the next wait
            elif not waiter.done:
                raise NotInTime
        return not waiter.done

    def lay_down(self) -> None:
        """Passes the pen to the next one whom nobody has seen to yet."""
        with self._changing:
            while self._waiting:
                following = self._waiting.popleft()
                if not following.seen_to:
                    following.has_pen = True
                    following.wake()
                    return
            self._held = False

    def _leave(self, waiter: Waiter) -> bool:
        """Take a waiter out of the queue. True if the pen was passed to it before that."""
        with self._changing:
            if waiter.has_pen:
                return True
            with contextlib.suppress(ValueError):
                self._waiting.remove(waiter)
            return False
