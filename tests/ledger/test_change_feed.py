# SPDX-License-Identifier: Apache-2.0

"""The change feed of a process: its tail, and streams that are slow, pruned or stopped, on each engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import delete

from plimsoll.ledger import change_feed
from plimsoll.ledger.change_feed import TooManySubscribers
from plimsoll.ledger.change_log import Cursor, LogBounds, read_bounds
from plimsoll.ledger.ledger import Ledger
from plimsoll.service import change_feed as service
from plimsoll.service import traits
from plimsoll.service.change_feed import EndReason, StreamEnd
from plimsoll.service.changes import ChangeFilter, ChangePage, bounds
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from tests.ledger.conftest import ACTOR
from tests.support.waiting import eventually

Items = Iterator[ChangePage | StreamEnd]


def write(placement: Placement, *names: str) -> None:
    for name in names:
        traits.create(placement, ACTOR, f"CUSTOM_{name}")


def end_of(placement: Placement) -> tuple[LogBounds, Cursor]:
    found = bounds(placement)
    return found, found.end


def stream_of(placement: Placement, subscription: change_feed.Subscription) -> Items:
    at, cursor = end_of(placement)
    start = ChangePage([], at, cursor)
    items = service.stream(
        placement, subscription, start, ChangeFilter(), math.inf, lambda: None, lambda: False
    )
    assert next(items) is start
    return items


def names(item: ChangePage | StreamEnd) -> list[str | None]:
    assert isinstance(item, ChangePage)
    return [name.after for each in item.changes for name in each.description.names]


def test_a_subscriber_gets_the_writes_of_this_process_and_of_others(
    placement: Placement, other: Placement
) -> None:
    with closing(service.subscribe(placement)) as subscription:
        items = stream_of(placement, subscription)
        write(placement, "A")
        assert names(next(items)) == ["CUSTOM_A"]
        write(other, "B", "C")
        found: list[str | None] = []
        while len(found) < 2:
            found += names(next(items))
        assert found == ["CUSTOM_B", "CUSTOM_C"]


def test_a_subscriber_that_is_behind_the_tail_is_dropped_with_its_cursor(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_feed, "MAX_TAIL", 2)
    feed = placement.ledger.feed
    with closing(service.subscribe(placement)) as subscription:
        items = stream_of(placement, subscription)
        write(placement, "A")
        page = next(items)
        assert names(page) == ["CUSTOM_A"]
        write(placement, "B", "C", "D")
        head = read_bounds(placement.ledger.database).head
        assert eventually(lambda: feed.tail.bounds.head == head)
        assert len(feed.tail.changes) == 2
        end = next(items)
        assert isinstance(end, StreamEnd)
        assert isinstance(page, ChangePage)
        assert (end.reason, end.cursor) == (EndReason.SLOW, page.next)
        assert list(items) == []


def test_the_tail_is_bounded_in_bytes(placement: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "MAX_TAIL_BYTES", 200)
    feed = placement.ledger.feed
    with closing(service.subscribe(placement)):
        write(placement, *(f"A{number}" for number in range(10)))
        head = read_bounds(placement.ledger.database).head
        assert eventually(lambda: feed.tail.bounds.head == head)
        assert 0 < sum(len(each.change.effects) for each in feed.tail.changes) <= 200


def test_a_stream_behind_a_pruned_log_ends(
    placement: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_feed, "POLL_SECONDS", 3600.0)
    feed = placement.ledger.feed
    with closing(service.subscribe(placement)) as subscription:
        items = stream_of(placement, subscription)
        write(placement, "A", "B")
        with database.transaction() as transaction:
            transaction.lock_head()
            transaction.connection.execute(delete(t.changes))
            transaction.commit()
        feed._poll()
        end = next(items)
        assert isinstance(end, StreamEnd)
        assert end.reason == EndReason.PRUNED


def test_a_stop_ends_streams_and_waits(placement: Placement) -> None:
    feed = placement.ledger.feed
    with closing(service.subscribe(placement)) as subscription:
        items = stream_of(placement, subscription)
        at, cursor = end_of(placement)
        feed.stop()
        end = next(items)
        assert isinstance(end, StreamEnd)
        assert end.reason == EndReason.STOPPING
        page = ChangePage([], at, cursor)
        waited = service.wait_for_page(placement, subscription, page, ChangeFilter(), 10, 3600, lambda: False)
        assert isinstance(waited, ChangePage)
        assert (waited.changes, waited.next) == ([], cursor)


def test_the_number_of_subscribers_is_limited(database: Database) -> None:
    feed = Ledger(database, max_subscribers=1).feed
    first = feed.subscribe()
    with pytest.raises(TooManySubscribers):
        feed.subscribe()
    first.close()
    feed.subscribe().close()
    assert feed.subscribers == 0
