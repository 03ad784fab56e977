# SPDX-License-Identifier: Apache-2.0

"""Following the change log: each process has the same results in the same order, whatever the log contains."""

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.ledger import commit, current
from plimsoll.ledger.audit import Audit
from plimsoll.ledger.ledger import Ledger
from plimsoll.ledger.verify import differences
from plimsoll.search.budget import Budget
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.result import Candidates
from plimsoll.service import allocations, candidates, providers
from plimsoll.service.placement import Placement
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.sql import Statement
from tests.ledger.conftest import ACTOR
from tests.ledger.test_assume_new import make_new_claim
from tests.ledger.test_ledger import make_provider


def hosts_of_first_candidates(placement: Placement) -> list[str]:
    request = CandidatesRequest((Group("", {"VCPU": 1}),), limit=10)
    found = candidates.find(placement, request, "", Budget())
    assert isinstance(found, Candidates)
    world = placement.world()
    return [world.providers[uuid].name for each in found.requests for uuid, _ in each.allocations]


def test_every_process_visits_providers_in_the_same_order(
    placement: Placement, other: Placement, database: Database
) -> None:
    for number in range(20):
        make_provider(placement, f"host-{number}", VCPU=4)
    expected = [f"host-{number}" for number in range(10)]
    follower, loaded = other, Placement(Ledger(database))
    assert hosts_of_first_candidates(placement) == expected
    assert hosts_of_first_candidates(follower) == expected
    assert hosts_of_first_candidates(loaded) == expected


def test_the_order_stays_the_same_when_providers_are_removed_and_added(
    placement: Placement, other: Placement, database: Database
) -> None:
    created = [make_provider(placement, f"host-{number}", VCPU=4) for number in range(8)]
    hosts_of_first_candidates(other)
    for removed in (created[1], created[5]):
        providers.delete(placement, ACTOR, removed.uuid)
        placement.world()
        make_provider(placement, f"after-{removed.name}", VCPU=4)
    expected = ["host-0", "host-2", "host-3", "host-4", "host-6", "host-7", "after-host-1", "after-host-5"]
    assert hosts_of_first_candidates(placement) == expected
    assert hosts_of_first_candidates(other) == expected
    assert hosts_of_first_candidates(Placement(Ledger(database))) == expected


def write_by_hand(database: Database, effects: str) -> int:
    """Raise all generations to 9 and log this as the effects. Return the number of the change."""
    with database.transaction() as transaction:
        head = transaction.lock_head()
        change = Change(head.seq + 1, datetime(2026, 1, 1), ACTOR, "test", effects)
        transaction.run([Statement("UPDATE resource_providers SET generation = 9")])
        transaction.commit(changes.append_statements(transaction.dialect, [change], head, mark=1))
    return change.seq


@pytest.mark.parametrize(
    "effects",
    [
        '[["effect_of_a_later_release", {"provider": "x"}]]',
        '[["format", {"version": 2}], ["generation_raised", {"provider": "x", "generation": 8}]]',
    ],
)
def test_a_change_of_a_later_release_causes_a_full_load(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture, effects: str
) -> None:
    host = make_provider(placement, "host", VCPU=4)
    write_by_hand(database, effects)
    assert placement.world().providers[host.uuid].generation == 9
    assert "do not fit" not in caplog.text


@pytest.mark.parametrize(
    "effects",
    [
        '[["provider_removed", {"uuid": "not in memory"}]]',
        '[["generation_raised", {"provider": 7, "generation": 1, "at": "2026-01-01"}]]',
    ],
)
def test_a_change_that_cannot_be_applied_is_logged_and_causes_a_full_load(
    placement: Placement, database: Database, caplog: pytest.LogCaptureFixture, effects: str
) -> None:
    host = make_provider(placement, "host", VCPU=4)
    seq = write_by_hand(database, effects)
    assert placement.world().providers[host.uuid].generation == 9
    assert f"Changes {seq} to {seq} do not fit" in caplog.text
    assert Audit(placement.ledger, interval=3600).check() == []
    make_provider(placement, str(uuid4()))
    assert differences(placement.ledger) == []


def record_queries(database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the ways in which the database is read."""
    calls: list[str] = []
    for name in ("select", "run_read"):
        original = getattr(type(database), name)

        def recorded(self: Database, *args: object, _name: str = name, _original: Any = original) -> object:
            calls.append(_name)
            return _original(self, *args)

        monkeypatch.setattr(type(database), name, recorded)
    return calls


def claim(placement: Placement, host: Provider, times: int = 1) -> None:
    for _ in range(times):
        assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None


def test_all_missed_changes_are_read_by_one_query_without_a_transaction(
    placement: Placement, other: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_provider(placement, "host", VCPU=100)
    other.world()
    claim(placement, host, 7)
    calls = record_queries(database, monkeypatch)
    assert other.world().providers[host.uuid].used == {"VCPU": 7}
    assert calls == ["select"]


def test_more_changes_than_one_query_reads_are_followed(
    placement: Placement, other: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_provider(placement, "host", VCPU=100)
    other.world()
    claim(placement, host, 7)
    monkeypatch.setattr(current, "CHANGES_PER_READ", 3)
    calls = record_queries(database, monkeypatch)
    assert other.world().providers[host.uuid].used == {"VCPU": 7}
    assert calls == ["select"] * 3
    assert other.ledger.newest.head == placement.ledger.newest.head


def test_a_process_that_is_far_behind_follows_before_it_locks_the_head(
    placement: Placement, other: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_provider(placement, "host", VCPU=100)
    other.world()
    claim(placement, host, 7)
    monkeypatch.setattr(commit, "CHANGES_UNDER_LOCK", 3)
    calls = record_queries(database, monkeypatch)
    claim(other, host)
    assert calls == ["select"]
    assert other.world().providers[host.uuid].used == {"VCPU": 8}


def test_a_process_that_cannot_catch_up_follows_while_it_holds_the_head(
    placement: Placement, other: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = make_provider(placement, "host", VCPU=100)
    other.world()
    claim(placement, host, 7)
    monkeypatch.setattr(commit, "CHANGES_UNDER_LOCK", 3)
    monkeypatch.setattr(current.CurrentSnapshot, "snapshot", lambda self: self.newest)
    claim(other, host)
    monkeypatch.undo()
    assert other.world().providers[host.uuid].used == {"VCPU": 8}


def test_a_head_that_was_followed_past_is_contained_in_the_snapshot(
    placement: Placement, other: Placement
) -> None:
    """A read that saw an earlier head need not read the change log again."""
    host = make_provider(placement, "host", VCPU=100)
    since = other.ledger.snapshot().head
    heads = []
    for _ in range(3):
        claim(placement, host)
        heads.append(placement.ledger.newest.head)
    snapshot = other.ledger.snapshot()
    assert all(snapshot.contains(head, since) for head in heads)
