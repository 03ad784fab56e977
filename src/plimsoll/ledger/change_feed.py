# SPDX-License-Identifier: Apache-2.0

"""The change feed of a process: one poll of the head serves all subscribers.

While there are subscribers, a thread (a greenlet under `plimsoll serve`) polls the head, reads the new changes once, and wakes the
subscribers. The last changes stay in memory, bounded in number and size. A subscriber that is further behind reads the change log itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from plimsoll.domain.change_description import describe
from plimsoll.domain.database_semantics import DatabaseSemantics
from plimsoll.domain.values import unhashable_value
from plimsoll.ledger.change_codec import decode
from plimsoll.ledger.change_log import Cursor, DescribedChange, LogBounds, LogPage, read_after, read_bounds
from plimsoll.runtime.base import Runtime
from plimsoll.storage.changes import LoggedChange
from plimsoll.storage.database import Database
from plimsoll.storage.errors import DatabaseFault

LOG = logging.getLogger(__name__)

POLL_SECONDS = 0.2
"""Between two polls of the head. A claim reaches subscribers within this time and some milliseconds."""
FAULT_SECONDS = 1.0
"""Until the next poll after a fault of the database."""
CHANGES_PER_READ = 500
MAX_TAIL = 4_096
"""Changes in memory, at most."""
MAX_TAIL_BYTES = 2 << 20
"""Length of their lines in the change log, at most. The objects in memory take about four times as much."""


class TooManySubscribers(Exception):
    """This process has as many subscribers as the settings allow."""


@unhashable_value
class Tail:
    """The last changes of the log, in a row. Immutable: each poll that finds changes makes a new one."""

    start: Cursor
    """The cursor before the oldest of these changes."""
    changes: tuple[DescribedChange, ...]
    bounds: LogBounds
    """Of the log when the newest of them was read."""

    def after(self, cursor: Cursor) -> tuple[DescribedChange, ...] | None:
        """Return the changes after the cursor. None if the cursor is before the tail, or of another history."""
        first = cursor.seq - self.start.seq
        if first < 0 or cursor.epoch != self.start.epoch:
            return None
        if first > len(self.changes):
            return ()  # the subscriber has read the database since the last poll
        mark = self.changes[first - 1].mark if first else self.start.mark
        if cursor.mark is not None and mark is not None and cursor.mark != mark:
            return None
        return self.changes[first:]

    def followed_by(self, more: tuple[DescribedChange, ...], bounds: LogBounds) -> Tail:
        """Return the tail with these later changes, without the oldest ones that exceed the limits."""
        changes = (*self.changes, *more)
        count, length = 0, 0
        for each in reversed(changes[-MAX_TAIL:]):
            length += len(each.change.effects)
            if length > MAX_TAIL_BYTES and count:
                break
            count += 1
        dropped = len(changes) - count
        start = self.start if not dropped else changes[dropped - 1].cursor(bounds.epoch)
        return Tail(start, changes[dropped:], bounds)


class ChangeFeed:
    """The subscribers of one process. Every method may be called from any thread."""

    def __init__(
        self,
        database: Database,
        runtime: Runtime,
        semantics: DatabaseSemantics,
        follow: Callable[[], object],
        max_subscribers: int,
    ) -> None:
        """`follow` brings the snapshot up to date; it is called after new changes were found, before they are shown."""
        self._database = database
        self._runtime = runtime
        self._semantics = semantics
        self._follow = follow
        self._max_subscribers = max_subscribers
        self._lock = threading.Lock()
        self._subscriptions: set[Subscription] = set()
        self._is_polling = False
        self._tail: Tail | None = None
        self.is_stopping = False
        """True if the process is about to end: waits and streams end at once."""

    @property
    def tail(self) -> Tail:
        """The newest tail. Read it only while subscribed."""
        tail = self._tail
        assert tail is not None
        return tail

    @property
    def subscribers(self) -> int:
        return len(self._subscriptions)

    def subscribe(self) -> Subscription:
        """Add a subscriber, which must be closed. Raises TooManySubscribers, or a DatabaseFault."""
        subscription = Subscription(self, self._runtime)
        with self._lock:
            if len(self._subscriptions) >= self._max_subscribers:
                raise TooManySubscribers
            self._subscriptions.add(subscription)
        try:
            self._start()
        except BaseException:
            self.unsubscribe(subscription)
            raise
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions.discard(subscription)

    def stop(self) -> None:
        """End all waits and streams, and do not begin others."""
        self.is_stopping = True
        self._wake_all()

    def _start(self) -> None:
        """Start to poll, unless a thread does. The tail begins at the present end of the log."""
        with self._lock:
            if self._is_polling:
                return
        if self._begin_polling(read_bounds(self._database)):
            threading.Thread(target=self._poll_until_unused, name="change feed", daemon=True).start()

    def _begin_polling(self, bounds: LogBounds) -> bool:
        """Set the first tail; False if another thread polls already."""
        with self._lock:
            if self._is_polling:
                return False
            self._is_polling = True
            self._tail = Tail(bounds.end, (), bounds)
            return True

    def _poll_until_unused(self) -> None:
        while True:
            time.sleep(POLL_SECONDS)
            with self._lock:
                if not self._subscriptions or self.is_stopping:
                    self._is_polling = False
                    return
            try:
                if self._poll():
                    self._wake_all()
            except DatabaseFault as fault:
                LOG.debug("The change feed could not be read: %s", fault)
                time.sleep(FAULT_SECONDS)
            except Exception:
                LOG.exception("The change feed could not be read")
                time.sleep(FAULT_SECONDS)

    def _poll(self) -> bool:
        """Read the changes since the last poll; False if there are none."""
        tail = self.tail
        if self._database.head() == tail.bounds.head:
            return False
        read = read_after(self._database, tail.bounds.end, CHANGES_PER_READ)
        if not isinstance(read, LogPage):  # pruned or restored: subscribers find out by themselves
            self._tail = Tail(read.bounds.end, (), read.bounds)
            return True
        pause = self._runtime.periodic_yield()
        more = []
        for logged in read.changes:
            more.append(described(logged, self._semantics))
            pause()
        last = read.changes[-1] if read.changes else None
        if last is None:
            return False
        self._follow()
        bounds = read.bounds
        if last.change.seq != bounds.head.seq:  # the next poll reads the rest
            bounds = bounds.up_to(last)
        self._tail = tail.followed_by(tuple(more), bounds)
        return True

    def _wake_all(self) -> None:
        with self._lock:
            waiting = tuple(self._subscriptions)
        for subscription in waiting:
            subscription.wake()


class Subscription:
    """One subscriber: it waits for the next change of the tail."""

    __slots__ = ("_event", "_feed")

    def __init__(self, feed: ChangeFeed, runtime: Runtime) -> None:
        self._feed = feed
        self._event = runtime.new_event()

    def wait(self, cursor: Cursor, seconds: float) -> None:
        """Wait until the tail has changes after the cursor, or for this many seconds. It may return earlier."""
        if self._feed.is_stopping or self._feed.tail.after(cursor) != ():
            return
        self._event.wait(max(seconds, 0.0))

    def wake(self) -> None:
        self._event.set()

    def close(self) -> None:
        self._feed.unsubscribe(self)


def described(logged: LoggedChange, semantics: DatabaseSemantics) -> DescribedChange:
    return DescribedChange(logged.change, logged.mark, describe(decode(logged.change.effects), semantics))
