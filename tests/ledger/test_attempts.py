# SPDX-License-Identifier: Apache-2.0

"""Who seems to be alone writes at once, on what memory has: whoever else has written, the outcome is the right one."""

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import pytest
from sqlalchemy import text

from plimsoll.domain.refusals import CapacityExceeded, Refusal, StaleConsumerGeneration
from plimsoll.ledger.command import Command
from plimsoll.ledger.commit import Committer
from plimsoll.service import allocations
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Overtaken
from plimsoll.storage.head import GUARD
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_beliefs import as_new
from tests.ledger.test_ledger import make
from tests.ledger.test_scribes import adding, in_thread

PATIENCE = 20


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In which ways it was tried to write."""
    tried: list[str] = []

    def noting(way: str) -> None:
        plain: Callable[..., object] = getattr(Committer, way)

        def noted(*args: object) -> object:
            tried.append(way)
            return plain(*args)

        monkeypatch.setattr(Committer, way, noted)

    noting("_commit_optimistic")
    noting("_commit_locked")
    return tried


def test_who_is_alone_writes_at_once(placement: Placement, ways: list[str]) -> None:
    host = make(placement, "host", VCPU=4)
    assert allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=1)]) is None
    assert set(ways) == {"_commit_optimistic"}
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_who_was_overtaken_decides_anew(placement: Placement, other: Placement, ways: list[str]) -> None:
    host = make(placement, "host", VCPU=4)
    assert allocations.claim(other, SOMEBODY, [as_new(host, VCPU=3)]) is None
    ways.clear()
    # Memory still has room for it.
    assert isinstance(allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=2)]), CapacityExceeded)
    assert allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=1)]) is None
    assert ways[0] == "_commit_optimistic"
    assert "_commit_optimistic" not in ways[1:], "somebody else writes too"
    assert placement.world().providers[host.uuid].used == {"VCPU": 4}


def test_nothing_is_refused_for_what_was_true_once(placement: Placement, other: Placement) -> None:
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=4)]) is None
    assert allocations.release(other, SOMEBODY, consumer) is None
    # Memory has no room for it.
    assert allocations.claim(placement, SOMEBODY, [as_new(host, VCPU=4)]) is None


def test_a_head_that_others_have_moved_is_not_moved(placement: Placement, database: Database) -> None:
    before = placement.ledger.snapshot().head
    make(placement, "host")
    with pytest.raises(Exception, match="wrote in between"), database.write(before) as conn:
        conn.execute(text("UPDATE resource_providers SET name = 'other'"))
    assert {provider.name for provider in placement.world().providers.values()} == {"host"}


def test_without_the_constraint_everybody_waits_for_their_turn(
    placement: Placement, database: Database, ways: list[str]
) -> None:
    if "sqlite" in database.where:
        pytest.skip("SQLite cannot drop it, and looks at the head itself")
    with database.change_schema() as conn:
        conn.execute(text(f"ALTER TABLE plimsoll_head DROP CONSTRAINT {GUARD}"))
    make(placement, "host")
    assert set(ways) == {"_commit_locked"}


def test_what_was_decided_on_a_batch_that_failed_is_decided_anew(
    placement: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One batch is at the database, and will fail there; the next was decided on the world after it."""
    make(placement, "host")
    at_database, fail = threading.Event(), threading.Event()
    run_last = database.run_last

    def failing(*args: object) -> None:
        if not at_database.is_set():
            at_database.set()
            fail.wait(PATIENCE)
            raise RuntimeError("the first one fails")
        run_last(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(database, "run_last", failing)
    outcomes: dict[str, object] = {}

    def submit(name: str) -> None:
        outcomes[name] = placement.ledger.submit(Command("test", SOMEBODY, adding(name)))

    first = in_thread(lambda: submit("first"))
    assert at_database.wait(PATIENCE)
    second = in_thread(lambda: submit("second"))
    deadline = time.monotonic() + PATIENCE
    while placement.ledger._queue and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    fail.set()
    for thread in (first, second):
        thread.join(PATIENCE)
    assert set(outcomes) == {"first", "second"}
    assert not any(isinstance(outcome, Refusal) for outcome in outcomes.values())
    assert {provider.name for provider in placement.world().providers.values()} == {"host", "first", "second"}


def test_a_consumer_that_one_calls_new_and_another_lets_go(placement: Placement) -> None:
    """The second comes when the first is decided, and before it is sent."""
    host, consumer = make(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=1)]) is None
    outcomes: dict[str, object] = {}

    def claim() -> None:
        outcomes["claim"] = allocations.claim(placement, SOMEBODY, [as_new(host, consumer, VCPU=3)])

    def release() -> None:
        outcomes["release"] = allocations.release(placement, SOMEBODY, consumer)

    with placement.ledger._scribe.nothing_under_way():
        first = in_thread(claim)
        time.sleep(0.1)
        second = in_thread(release)
        time.sleep(0.1)
    for thread in (first, second):
        thread.join(PATIENCE)
    assert outcomes["release"] is None
    assert outcomes["claim"] in (None, StaleConsumerGeneration(consumer, 1, None))
    used = {} if outcomes["claim"] is not None else {"VCPU": 3}
    assert placement.world().providers[host.uuid].used == used


def test_whoever_is_overtaken_at_the_database_waits_for_the_pen(
    placement: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(placement, "host")
    held: list[bool] = []
    run_last, in_turn = database.run_last, Committer._commit_locked
    overtaken = [Overtaken()]

    def overtaking(*args: object) -> None:
        if overtaken:
            raise overtaken.pop()
        run_last(*args)  # type: ignore[arg-type]

    def noting(self: Committer, *args: object) -> object:
        held.append(placement.ledger._pen._held)
        return in_turn(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(database, "run_last", overtaking)
    monkeypatch.setattr(Committer, "_commit_locked", noting)
    make(placement, "other")
    assert held == [True]
