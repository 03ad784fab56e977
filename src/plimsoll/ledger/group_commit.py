# SPDX-License-Identifier: Apache-2.0

"""The group commit lock: the thread or greenlet that holds it (the leader) commits the commands of all waiters.

Each waiter has an event of its own. A release wakes one waiter whose command is in no batch yet; the waiters of a batch
are woken one by one when the batch is done. A shared condition variable would wake all waiters at every release.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque

from plimsoll.runtime.base import Event, Runtime


class LockTimeout(Exception):
    """The waiter neither got the lock nor was finished before its timeout."""


class Waiter:
    """One thread or greenlet that waits for the lock, or until a leader has done its work for it."""

    __slots__ = ("_event", "_runtime", "done", "has_lock", "in_batch")

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.in_batch = False
        """A leader has taken its command into a batch: it waits for `done`, not for the lock."""
        self.done = False
        self.has_lock = False
        """It has got the lock, at once or while it waited."""
        self._event: Event | None = None
        """Created at the first wait: most waiters never block."""

    def finish(self) -> None:
        """Set `done` and wake the waiter. To be called once, by the leader of its batch."""
        assert not self.done
        self.done = True
        if self._event is not None:  # else the waiter checks `done` before it blocks
            self._event.set()

    def create_event(self) -> None:
        """Create the event, so that `wake` and `finish` can set it."""
        if self._event is None:
            self._event = self._runtime.new_event()

    def wake(self) -> None:
        assert self._event is not None
        self._event.set()

    def wait(self, timeout: float = -1) -> bool:
        """Block until `wake` or `finish`. False after a timeout; a negative one means no limit."""
        self.create_event()
        if self.done:
            return True
        assert self._event is not None
        return self._event.wait(timeout)


class Lease:
    """The lock as one leader holds it: released while its batch is in flight, reacquired for a retry."""

    __slots__ = ("_lock", "_runtime", "holds_lock")

    def __init__(self, lock: GroupCommitLock, runtime: Runtime) -> None:
        self._lock = lock
        self._runtime = runtime
        self.holds_lock = True

    def release(self) -> None:
        if self.holds_lock:
            self._lock.release(self)

    def reacquire(self) -> None:
        """Wait for the lock again if it was released: the batch has to be decided and written again."""
        if not self.holds_lock:
            self._lock.acquire(Waiter(self._runtime))
            self.holds_lock = True


class GroupCommitLock:
    """A mutual exclusion lock with a FIFO queue, which skips waiters whose command is in a batch already."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiters: deque[Waiter] = deque()

    def acquire(self, waiter: Waiter, timeout: float = -1) -> bool:
        """Wait for the lock and return True; return False, without the lock, as soon as the waiter is done.

        Raise LockTimeout if neither happens before the timeout. A timeout, or an exception that ends the waiting thread
        or greenlet, removes the waiter from the queue: else the lock would be passed to it and never be released.
        """
        waiter.has_lock = False
        try:
            with self._mutex:
                if not waiter.in_batch:
                    if not self._held:
                        self._held = waiter.has_lock = True
                        return True
                    waiter.create_event()
                    self._waiters.append(waiter)
            was_woken = waiter.wait(timeout)
        except BaseException:
            if self._remove(waiter):
                self.release()
            raise
        if not was_woken:
            if self._remove(waiter):
                waiter.wait(0)  # the lock came with an event, which must not end the next wait
            elif not waiter.done:
                raise LockTimeout
        return not waiter.done

    def release(self, lease: Lease | None = None) -> None:
        """Pass the lock to the next waiter whose command is in no batch; unlock if there is none.

        The lease ends in the same step: a thread or greenlet that ends before it still has to release the lock.
        """
        with self._mutex:
            assert self._held
            if lease is not None:
                lease.holds_lock = False
            while self._waiters:
                waiter = self._waiters.popleft()
                if not waiter.in_batch:
                    waiter.has_lock = True
                    waiter.wake()
                    return
            self._held = False

    def _remove(self, waiter: Waiter) -> bool:
        """Remove a waiter from the queue. True if the lock was passed to it before that."""
        with self._mutex:
            if waiter.has_lock:
                return True
            with contextlib.suppress(ValueError):
                self._waiters.remove(waiter)
            return False
