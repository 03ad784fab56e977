# SPDX-License-Identifier: Apache-2.0

"""Optimistic reads: the newest snapshot in memory is read while the query for the head is in flight."""

from __future__ import annotations

import threading
import time
from uuid import uuid4

import pytest
from sqlalchemy import delete, update

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ProviderMissing
from plimsoll.service import providers
from plimsoll.service.placement import Placement
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.head import Head
from plimsoll.storage.sql import Statement
from tests.ledger.conftest import ACTOR
from tests.support.external_writes import committed_write


def create(placement: Placement) -> Provider:
    uuid = str(uuid4())
    made = providers.create(placement, ACTOR, uuid, f"host-{uuid}", None)
    assert isinstance(made, Provider)
    return made


def test_a_read_of_a_current_snapshot_is_computed_once(placement: Placement) -> None:
    host = create(placement)
    calls = []

    def compute(reader: Placement) -> Provider | ProviderMissing:
        calls.append(reader)
        return providers.get(reader, host.uuid)

    assert placement.read(compute) == host
    assert len(calls) == 1


def test_a_read_of_a_stale_snapshot_is_computed_again(placement: Placement, other: Placement) -> None:
    other.world()
    host = create(placement)
    results: list[Provider | ProviderMissing] = []

    def compute(reader: Placement) -> Provider | ProviderMissing:
        results.append(providers.get(reader, host.uuid))
        return results[-1]

    assert other.read(compute) == host
    assert results == [ProviderMissing(host.uuid), host]


def test_an_error_on_a_stale_snapshot_is_not_raised(placement: Placement, other: Placement) -> None:
    other.world()
    host = create(placement)

    def compute(reader: Placement) -> Provider:
        return reader.world().providers[host.uuid]

    assert other.read(compute) == host
    with pytest.raises(KeyError):
        other.read(lambda reader: reader.world().providers["missing"])


def test_one_read_uses_one_snapshot(placement: Placement, other: Placement) -> None:
    create(placement)
    other.world()

    def compute(reader: Placement) -> tuple[int, int]:
        first = len(reader.world().providers)
        create(placement)
        return first, len(reader.world().providers)

    first, second = other.read(compute)
    assert first == second


def test_a_read_that_uses_no_snapshot_sends_no_query(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(type(placement.ledger.database), "start_head_query", fail)
    assert placement.read(lambda _: "no snapshot") == "no snapshot"


def test_a_head_that_memory_has_passed_meanwhile_needs_no_query_of_the_change_log(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process writes while the query for the head is in flight: memory has these changes already."""
    database = type(placement.ledger.database)
    read_head, before = database.head, len(placement.world().providers)

    def read_head_slowly(self: Database) -> Head:
        head = read_head(self)
        create(placement)
        create(placement)
        monkeypatch.setattr(database, "run_read", fail)
        return head

    def fail(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(database, "head", read_head_slowly)
    try:
        assert len(placement.world().providers) == before + 2
    finally:
        monkeypatch.undo()


def test_a_database_that_was_restored_to_an_earlier_state_is_loaded_again(
    placement: Placement, database: Database
) -> None:
    """For example after a failover to a replica that lags: memory has been at its head before, and is not newer."""
    create(placement)
    before, remaining = placement.ledger.snapshot().head, set(placement.world().providers)
    lost = create(placement)
    with committed_write(database) as conn:
        row = t.resource_providers.c.uuid == lost.uuid
        conn.execute(update(t.resource_providers).where(row).values(root_provider_id=None))
        conn.execute(delete(t.resource_providers).where(row))
        conn.execute(delete(t.changes).where(t.changes.c.seq > before.seq))
        conn.execute(update(t.head).values(seq=before.seq, mark=before.mark))
    assert set(placement.world().providers) == remaining


def test_reads_are_not_computed_twice_while_other_processes_write(
    placement: Placement, other: Placement
) -> None:
    host = create(placement)
    computed: list[int] = []

    def compute(reader: Placement) -> int:
        computed.append(len(reader.world().providers))
        return computed[-1]

    assert host.uuid in other.world().providers
    repeated = []
    for _ in range(20):
        create(placement)
        computed.clear()
        assert other.read(compute) == len(placement.world().providers)
        repeated.append(len(computed) == 2)
    assert repeated[0]
    assert not any(repeated[10:])
    for _ in range(20):
        other.read(compute)
    create(placement)
    computed.clear()
    other.read(compute)
    assert len(computed) == 2, "without other writes, reads are optimistic again"


def test_a_read_of_the_change_log_is_shared_by_reads_that_began_before_it(
    placement: Placement, other: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(placement)
    current = other.ledger._current
    selected: list[float] = []
    select = type(current.database).select

    def slow_select(self: Database, statement: Statement) -> list[object]:
        selected.append(time.monotonic())
        if len(selected) == 1:
            for each in waiting:
                each.start()
            time.sleep(0.2)
        return select(self, statement)

    monkeypatch.setattr(type(current.database), "select", slow_select)
    heads: list[Head] = []
    waiting = [threading.Thread(target=lambda: heads.append(current.caught_up().head)) for _ in range(5)]
    current.caught_up()
    for each in waiting:
        each.join()
    assert set(heads) == {placement.ledger.newest.head}
    assert len(selected) == 2, (
        "one for the first, which began too early for the others, and one for all others"
    )
