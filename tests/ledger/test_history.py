# SPDX-License-Identifier: Apache-2.0

"""The cloud as of earlier changes: what is undone, cached and refused, on each engine."""

from __future__ import annotations

from uuid import uuid4

import pytest
from sqlalchemy import delete, insert, update

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.rules.allocations import Claim
from plimsoll.ledger import history
from plimsoll.ledger.history import (
    HistoryLimits,
    HistoryTooShort,
    HistoryUnfinished,
    PastSnapshots,
    memory_of,
)
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.search.budget import Budget, SearchCancelled
from plimsoll.service import allocations, classes, inventories, providers
from plimsoll.service.placement import Placement
from plimsoll.storage import changes
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from tests.ledger.conftest import ACTOR
from tests.ledger.test_ledger import make_provider


def claim(placement: Placement, host: str) -> int:
    """Claim on a host, and return the number of the change."""
    wanted = Claim(str(uuid4()), {host: {"VCPU": 1}}, "p", "u", "INSTANCE", None)
    assert allocations.claim(placement, ACTOR, [wanted]) is None
    return placement.snapshot().head.seq


def at(placement: Placement, seq: int) -> Snapshot:
    found = placement.ledger.history.at(placement.snapshot(), seq, Budget())
    assert isinstance(found, Snapshot)
    return found


@pytest.fixture
def lines_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of the newest line of each read of the change log."""
    read: list[int] = []
    before = changes.logged_before

    def counted(conn: object, seq: int, limit: int) -> object:
        read.append(seq - 1)
        return before(conn, seq, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(changes, "logged_before", counted)
    return read


def test_a_snapshot_as_of_then_is_the_one_that_was_published_then(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    kept = [placement.snapshot()]
    for _ in range(5):
        claim(placement, host)
        kept.append(placement.snapshot())
    for then in kept:
        found = at(placement, then.head.seq)
        assert (found.head, found.revision) == (then.head, then.revision)
        assert found.world.providers[host] == then.world.providers[host]
        assert found.world.usages == then.world.usages
        assert found.index.provider(0) == then.index.provider(0)


def test_rows_are_in_the_order_of_ids_though_a_removed_provider_is_added_last(placement: Placement) -> None:
    made = [make_provider(placement, f"host-{number}", VCPU=4) for number in range(4)]
    then = placement.snapshot()
    providers.delete(placement, ACTOR, made[1].uuid)
    found = at(placement, then.head.seq)
    assert found.index.rows_in_id_order
    assert [found.index.provider(row).name for row in range(4)] == [each.name for each in made]


def test_a_second_request_reads_nothing_and_an_earlier_one_continues(
    placement: Placement, lines_read: list[int]
) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    numbers = [claim(placement, host) for _ in range(6)]
    first = at(placement, numbers[3])
    assert lines_read == [numbers[5]]
    assert at(placement, numbers[3]) is first
    assert lines_read == [numbers[5]]
    at(placement, numbers[1])
    assert lines_read == [numbers[5], numbers[3]]


def test_the_cache_is_bounded_in_bytes(placement: Placement, database: Database) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    numbers = [claim(placement, host) for _ in range(6)]
    limit = 3 * memory_of(placement.snapshot())
    past = PastSnapshots(database, HistoryLimits(cache_bytes=limit))
    for number in numbers:
        past.at(placement.snapshot(), number, Budget())
    assert 0 < past.cached_bytes <= limit


def test_nothing_is_cached_across_a_full_load(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    number = claim(placement, host)
    claim(placement, host)
    first = at(placement, number)
    placement.ledger.reload()
    assert at(placement, number) is not first
    assert at(placement, number).origin is placement.snapshot().origin


def test_too_little_time_keeps_what_was_done(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first = claim(placement, host)
    last = [claim(placement, host) for _ in range(4)][-1]
    newest, past = placement.snapshot(), placement.ledger.history
    reached = [past.at(newest, first, Budget(-1)) for _ in range(4)]
    assert reached[:3] == [
        HistoryUnfinished(last - 1),
        HistoryUnfinished(last - 2),
        HistoryUnfinished(last - 3),
    ]
    assert isinstance(reached[3], Snapshot)


def test_a_client_that_has_gone_ends_it(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first = claim(placement, host)
    for _ in range(3):
        claim(placement, host)
    times = iter(range(1_000))
    gone = Budget(clock=lambda: float(next(times)), is_cancelled=lambda: True)
    with pytest.raises(SearchCancelled):
        placement.ledger.history.at(placement.snapshot(), first, gone)
    assert at(placement, first).head.seq == first, "the next request is not blocked"


def test_others_run_after_each_effect(placement: Placement) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first = claim(placement, host)
    for _ in range(10):
        claim(placement, host)
    pauses = []
    times = iter(range(1_000))
    budget = Budget(clock=lambda: float(next(times)), pause=lambda: pauses.append(1))
    placement.ledger.history.at(placement.snapshot(), first, budget)
    assert len(pauses) >= 10


def test_a_change_that_is_not_described_ends_the_history(placement: Placement, database: Database) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first, second = claim(placement, host), claim(placement, host)
    claim(placement, host)
    with database.transaction() as transaction:
        transaction.connection.execute(
            update(t.changes).where(t.changes.c.seq == second).values(effects='[["reload", {}]]')
        )
        transaction.commit()
    found = placement.ledger.history.at(placement.snapshot(), first, Budget())
    assert found == HistoryTooShort(second)


def test_a_log_of_another_history_is_not_used(placement: Placement, database: Database) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first = claim(placement, host)
    newest = claim(placement, host)
    snapshot = placement.ledger.newest
    with database.transaction() as transaction:
        marks = update(t.changes).where(t.changes.c.seq == newest).values(mark=t.changes.c.mark + 1)
        transaction.connection.execute(marks)
        transaction.commit()
    assert PastSnapshots(database).at(snapshot, first, Budget()) == HistoryTooShort(newest)
    with database.transaction() as transaction:
        transaction.connection.execute(
            update(t.changes).where(t.changes.c.seq == newest).values(mark=t.changes.c.mark - 1)
        )
        transaction.commit()


def test_one_request_undoes_changes_at_a_time(placement: Placement, monkeypatch: pytest.MonkeyPatch) -> None:
    host = make_provider(placement, "host", VCPU=100).uuid
    first = claim(placement, host)
    claim(placement, host)
    past = placement.ledger.history
    monkeypatch.setattr(history, "LOCK_SECONDS", 0.01)
    with past.one_at_a_time(), pytest.raises(Busy):
        past.at(placement.snapshot(), first, Budget())


def test_a_class_that_was_removed_with_usage_ends_the_history(
    placement: Placement, database: Database
) -> None:
    """Allocations of a removed provider still count for their owner until their class is removed."""
    classes.create(placement, ACTOR, "CUSTOM_A")
    host = make_provider(placement, "host", VCPU=4)
    inventory = {"VCPU": Inventory(4), "CUSTOM_A": Inventory(4)}
    inventories.replace(placement, ACTOR, host.uuid, host.generation, inventory, reserve_all=True)
    first = placement.snapshot().head.seq
    class_id = placement.world().classes.by_name["CUSTOM_A"].id
    claim(placement, host.uuid)
    with database.transaction() as transaction:
        consumer_id = transaction.connection.scalar(
            t.consumers.select().with_only_columns(t.consumers.c.uuid)
        )
        transaction.connection.execute(
            insert(t.allocations).values(
                resource_provider_id=999, consumer_id=consumer_id, resource_class_id=class_id, used=1
            )
        )
        transaction.commit()
    fresh = Placement(Ledger(database))
    inventories.replace(
        fresh,
        ACTOR,
        host.uuid,
        fresh.world().providers[host.uuid].generation,
        {"VCPU": Inventory(4)},
        reserve_all=True,
    )
    assert classes.delete(fresh, ACTOR, "CUSTOM_A") is None
    removed = fresh.snapshot().head.seq
    assert fresh.ledger.history.at(fresh.snapshot(), first, Budget()) == HistoryTooShort(removed)
    with database.transaction() as transaction:
        transaction.connection.execute(
            delete(t.allocations).where(t.allocations.c.resource_provider_id == 999)
        )
        transaction.commit()
