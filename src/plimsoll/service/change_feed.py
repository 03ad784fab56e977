# SPDX-License-Identifier: Apache-2.0

"""Wait for changes: once (a long poll), or as a stream that goes on until the client ends it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import StrEnum

from plimsoll.domain.values import unhashable_value
from plimsoll.ledger.change_feed import Subscription, TooManySubscribers
from plimsoll.ledger.change_log import CursorPruned
from plimsoll.service.changes import (
    ChangeFilter,
    ChangePage,
    Cursor,
    CursorGone,
    DescribedChange,
    LogBounds,
    page_after,
)
from plimsoll.service.placement import Placement
from plimsoll.storage.errors import DatabaseFault

__all__ = [
    "EndReason",
    "StreamEnd",
    "Subscription",
    "TooManySubscribers",
    "end_subscriptions",
    "stream",
    "subscribe",
    "wait_for_page",
]

HEARTBEAT_SECONDS = 15.0
"""A stream without changes sends its position so often."""
CHECK_SECONDS = 5.0
"""How often a wait checks whether its client is gone."""
STREAM_PAGE = 100
"""Changes that a stream reads from the database and sends at a time, until it has reached the end of the log."""


class EndReason(StrEnum):
    SLOW = "slow"
    STOPPING = "stopping"
    TIME = "time"
    UNAVAILABLE = "unavailable"
    PRUNED = "pruned"
    OTHER_HISTORY = "other_history"


@unhashable_value
class StreamEnd:
    """The last item of a stream that the service ends."""

    reason: EndReason
    cursor: Cursor
    bounds: LogBounds


def subscribe(placement: Placement) -> Subscription:
    """Add a subscriber. Raises TooManySubscribers."""
    return placement.ledger.feed.subscribe()


def end_subscriptions(placement: Placement) -> None:
    """End all waits and streams, because the worker stops."""
    placement.ledger.feed.stop()


def wait_for_page(
    placement: Placement,
    subscription: Subscription,
    page: ChangePage,
    wanted: ChangeFilter,
    limit: int,
    seconds: float,
    is_cancelled: Callable[[], bool],
) -> ChangePage | CursorGone:
    """Return the next page that has changes; or one without, with the cursor reached, when the time is over.

    `page` is the last one, which has reached the end of the log.
    """
    feed, end = placement.ledger.feed, time.monotonic() + seconds
    cursor, bounds = page.next, page.bounds
    assert cursor is not None
    while (left := end - time.monotonic()) > 0 and not feed.is_stopping and not is_cancelled():
        subscription.wait(cursor, min(left, CHECK_SECONDS))
        tail = feed.tail
        new = tail.after(cursor)
        if new is None:
            return page_after(placement, cursor, wanted, limit, lambda: None)
        if new:
            found, cursor = _select(new, wanted, limit, tail.bounds.epoch)
            bounds = tail.bounds
            if found:
                return ChangePage(found, bounds, cursor)
    return ChangePage([], bounds, cursor)


def stream(
    placement: Placement,
    subscription: Subscription,
    page: ChangePage,
    wanted: ChangeFilter,
    seconds: float,
    pause: Callable[[], object],
    is_cancelled: Callable[[], bool],
) -> Iterator[ChangePage | StreamEnd]:
    """Yield pages as changes are made: first this one, which was read already. A page without changes is a heartbeat.

    The stream ends with a StreamEnd: after this many seconds, or for another reason.
    """
    feed, end = placement.ledger.feed, time.monotonic() + seconds
    yield page
    reached: ChangePage | StreamEnd = page
    while isinstance(reached, ChangePage) and reached.has_more and not feed.is_stopping:
        reached = _next_page(placement, reached, wanted, pause)
        yield reached
    if isinstance(reached, StreamEnd):
        return
    cursor, bounds = reached.next, reached.bounds
    assert cursor is not None
    next_heartbeat = time.monotonic() + HEARTBEAT_SECONDS
    while (now := time.monotonic()) < end and not feed.is_stopping:
        subscription.wait(cursor, min(next_heartbeat - now, end - now, CHECK_SECONDS))
        if is_cancelled():
            return
        tail = feed.tail
        new = tail.after(cursor)
        if new is None:
            yield _why_behind(placement, cursor, bounds, wanted)
            return
        found: list[DescribedChange] = []
        if new:
            found, cursor = _select(new, wanted, len(new), tail.bounds.epoch)
            bounds = tail.bounds
        if found or time.monotonic() >= next_heartbeat:
            next_heartbeat = time.monotonic() + HEARTBEAT_SECONDS
            yield ChangePage(found, bounds, cursor)
    yield StreamEnd(EndReason.STOPPING if feed.is_stopping else EndReason.TIME, cursor, bounds)


def _select(
    changes: tuple[DescribedChange, ...], wanted: ChangeFilter, limit: int, epoch: str
) -> tuple[list[DescribedChange], Cursor]:
    """Return the changes that meet the conditions, and the cursor after the last one that was examined."""
    found: list[DescribedChange] = []
    for each in changes:
        selected = wanted.select_described(each)
        if selected is not None:
            found.append(selected)
        if len(found) == limit:
            return found, each.cursor(epoch)
    return found, changes[-1].cursor(epoch)


def _next_page(
    placement: Placement, page: ChangePage, wanted: ChangeFilter, pause: Callable[[], object]
) -> ChangePage | StreamEnd:
    """Return the page after this one from the database, or why there is none."""
    assert page.next is not None
    try:
        found = page_after(placement, page.next, wanted, STREAM_PAGE, pause)
    except DatabaseFault:
        return StreamEnd(EndReason.UNAVAILABLE, page.next, page.bounds)
    if isinstance(found, ChangePage):
        return found
    return StreamEnd(end_reason(found), page.next, found.bounds)


def _why_behind(placement: Placement, cursor: Cursor, bounds: LogBounds, wanted: ChangeFilter) -> StreamEnd:
    """Return why a subscriber cannot go on from the changes in memory."""
    found = _next_page(placement, ChangePage([], bounds, cursor), wanted, lambda: None)
    return found if isinstance(found, StreamEnd) else StreamEnd(EndReason.SLOW, cursor, found.bounds)


def end_reason(gone: CursorGone) -> EndReason:
    return EndReason.PRUNED if isinstance(gone, CursorPruned) else EndReason.OTHER_HISTORY
