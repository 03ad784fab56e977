# SPDX-License-Identifier: Apache-2.0

"""Optimistic and locked commits: the outcome is correct even if another process has written in between."""

import threading
import time
from collections.abc import Callable, Sequence
from uuid import uuid4

import pytest
from sqlalchemy import text

from plimsoll.domain.refusals import CapacityExceeded, Refusal, StaleConsumerGeneration
from plimsoll.ledger import commit_retry
from plimsoll.ledger.batch import Batch
from plimsoll.ledger.command import Command, Ticket
from plimsoll.ledger.commit import Committer
from plimsoll.service import allocations
from plimsoll.service.placement import Placement
from plimsoll.storage.database import Database
from plimsoll.storage.errors import HeadMoved, Interrupted, OutcomeUnknown
from plimsoll.storage.head import HEAD_GUARD, Head
from plimsoll.storage.sql import Statement
from plimsoll.storage.transaction import Transaction
from tests.ledger.conftest import ACTOR
from tests.ledger.test_assume_new import make_new_claim
from tests.ledger.test_commit_retry import adds_provider, start_thread
from tests.ledger.test_ledger import make_provider

TIMEOUT = 20


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commit methods that were called, in order."""
    attempted: list[str] = []

    def record_calls(method: str) -> None:
        original: Callable[..., object] = getattr(Committer, method)

        def recorded(*args: object) -> object:
            attempted.append(method)
            return original(*args)

        monkeypatch.setattr(Committer, method, recorded)

    record_calls("_commit_optimistic")
    record_calls("_commit_locked")
    return attempted


@pytest.mark.only_fast_paths
def test_a_single_writer_commits_optimistically(placement: Placement, attempts: list[str]) -> None:
    host = make_provider(placement, "host", VCPU=4)
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    assert set(attempts) == {"_commit_optimistic"}
    assert placement.world().providers[host.uuid].used == {"VCPU": 1}


def test_ids_are_cached_with_the_snapshot_that_contains_them(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch whose response was lost is committed, but its snapshot is not in memory: a restore to the state that is
    in memory would not be detected, and the ids of its new projects and users would stay in the cache."""
    host = make_provider(placement, "host", VCPU=4)
    in_memory, commit = placement.ledger.newest.head, Transaction.commit

    def commit_without_response(transaction: Transaction, statements: Sequence[Statement] = ()) -> None:
        commit(transaction, statements)
        monkeypatch.setattr(Transaction, "commit", commit)
        raise OutcomeUnknown("the connection was lost")

    monkeypatch.setattr(Transaction, "commit", commit_without_response)
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    tables = placement.ledger._retrier._committer._lookup_tables
    assert placement.ledger.newest.head == in_memory
    assert not tables.projects.cached
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    assert placement.ledger.newest.head != in_memory
    assert tables.projects.cached


@pytest.mark.only_fast_paths
@pytest.mark.parametrize(
    ("has_head_moved", "has_ended", "outcome"),
    [(False, False, OutcomeUnknown), (True, False, Interrupted), (False, True, Interrupted)],
)
def test_a_commit_that_may_still_arrive_has_no_known_outcome(
    placement: Placement,
    other: Placement,
    monkeypatch: pytest.MonkeyPatch,
    has_head_moved: bool,
    has_ended: bool,
    outcome: type[Exception],
) -> None:
    """The message of an optimistic commit may arrive at the server late: it fails only if the head has moved.

    After a response to it, for example that a timeout has cancelled it, it cannot arrive.
    """
    if not placement.ledger.database.commits_in_background:
        pytest.skip("SQLite has no server")
    make_provider(placement, "host")
    commit = Transaction.commit

    def lose_message(transaction: Transaction, statements: Sequence[Statement] = ()) -> None:
        monkeypatch.setattr(Transaction, "commit", commit)
        if has_head_moved:
            make_provider(other, "new")
        raise OutcomeUnknown("the connection was lost", has_ended=has_ended)

    monkeypatch.setattr(Transaction, "commit", lose_message)
    monkeypatch.setattr(commit_retry, "OUTCOME_RETRY_SECONDS", 0)
    with pytest.raises(outcome):
        placement.ledger.submit(Command("test", ACTOR, adds_provider("lost")))
    assert "lost" not in {each.name for each in placement.world().providers.values()}


@pytest.mark.only_fast_paths  # without them the batch is decided again, after a full load: this database has no such head
def test_a_refused_batch_does_not_replace_a_newer_snapshot(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a Galera cluster another node may write, and a reader may follow it, while this node has the head locked."""
    host, decide = make_provider(placement, "host", VCPU=4), Batch.decide
    current = placement.ledger._current

    def decide_while_a_reader_follows(batch: Batch, tickets: Sequence[Ticket]) -> None:
        decide(batch, tickets)
        newest = current.newest
        current.newest = newest.advanced([Head(newest.head.seq + 1, 1)], newest.world, set())

    before = current.newest
    monkeypatch.setattr(Batch, "decide", decide_while_a_reader_follows)
    refused = allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=5)])
    monkeypatch.undo()
    assert isinstance(refused, CapacityExceeded)
    assert current.newest.head.seq > before.head.seq
    current.newest = before


@pytest.mark.only_fast_paths
def test_after_another_process_has_written_the_command_is_decided_again_with_the_lock(
    placement: Placement, other: Placement, attempts: list[str]
) -> None:
    host = make_provider(placement, "host", VCPU=4)
    assert allocations.claim(other, ACTOR, [make_new_claim(host, VCPU=3)]) is None
    attempts.clear()
    # The snapshot in memory still has capacity for it.
    assert isinstance(allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=2)]), CapacityExceeded)
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=1)]) is None
    assert attempts[0] == "_commit_optimistic"
    assert "_commit_optimistic" not in attempts[1:], "another process writes too"
    assert placement.world().providers[host.uuid].used == {"VCPU": 4}


def test_no_command_is_refused_because_of_a_stale_snapshot(placement: Placement, other: Placement) -> None:
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=4)]) is None
    assert allocations.release(other, ACTOR, consumer) is None
    # The snapshot in memory has no capacity for it.
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, VCPU=4)]) is None


def test_an_optimistic_write_fails_if_the_head_has_moved(placement: Placement, database: Database) -> None:
    before = placement.ledger.snapshot().head
    make_provider(placement, "host")
    with pytest.raises(Exception, match=HeadMoved.summary), database.transaction(before) as transaction:
        transaction.connection.execute(text("UPDATE resource_providers SET name = 'other'"))
    assert {provider.name for provider in placement.world().providers.values()} == {"host"}


def test_without_the_constraint_on_the_head_all_commits_are_locked(
    placement: Placement, database: Database, attempts: list[str]
) -> None:
    if "sqlite" in database.where:
        pytest.skip("SQLite cannot drop a constraint, and compares the head itself")
    with database.change_schema() as transaction:
        transaction.run([Statement(f"ALTER TABLE plimsoll_head DROP CONSTRAINT {HEAD_GUARD}")])
        transaction.commit()
    make_provider(placement, "host")
    assert set(attempts) == {"_commit_locked"}


@pytest.mark.only_fast_paths
def test_a_batch_that_was_decided_on_a_failed_batch_is_decided_again(
    placement: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first batch is in flight and will fail; the next one was decided on the snapshot after it."""
    make_provider(placement, "host")
    at_database, fail = threading.Event(), threading.Event()
    commit = Transaction.commit

    def fail_first(transaction: Transaction, statements: Sequence[Statement]) -> None:
        if not at_database.is_set():
            at_database.set()
            fail.wait(TIMEOUT)
            raise RuntimeError("the first batch fails")
        commit(transaction, statements)

    monkeypatch.setattr(Transaction, "commit", fail_first)
    outcomes: dict[str, object] = {}

    def submit(name: str) -> None:
        outcomes[name] = placement.ledger.submit(Command("test", ACTOR, adds_provider(name)))

    first = start_thread(lambda: submit("first"))
    assert at_database.wait(TIMEOUT)
    second = start_thread(lambda: submit("second"))
    deadline = time.monotonic() + TIMEOUT
    while placement.ledger._queue and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    fail.set()
    for thread in (first, second):
        thread.join(TIMEOUT)
    assert set(outcomes) == {"first", "second"}
    assert not any(isinstance(outcome, Refusal) for outcome in outcomes.values())
    assert {provider.name for provider in placement.world().providers.values()} == {"host", "first", "second"}


def test_a_consumer_that_one_command_calls_new_and_a_late_command_releases(placement: Placement) -> None:
    """The second command is queued after the first was decided, and before it is sent."""
    host, consumer = make_provider(placement, "host", VCPU=4), str(uuid4())
    assert allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=1)]) is None
    outcomes: dict[str, object] = {}

    def claim() -> None:
        outcomes["claim"] = allocations.claim(placement, ACTOR, [make_new_claim(host, consumer, VCPU=3)])

    def release() -> None:
        outcomes["release"] = allocations.release(placement, ACTOR, consumer)

    with placement.ledger._retrier.block_commits():
        first = start_thread(claim)
        time.sleep(0.1)
        second = start_thread(release)
        time.sleep(0.1)
    for thread in (first, second):
        thread.join(TIMEOUT)
    assert outcomes["release"] is None
    assert outcomes["claim"] in (None, StaleConsumerGeneration(consumer, 1, None))
    used = {} if outcomes["claim"] is not None else {"VCPU": 3}
    assert placement.world().providers[host.uuid].used == used


@pytest.mark.only_fast_paths
def test_a_batch_that_lost_the_race_for_the_head_reacquires_the_group_commit_lock(
    placement: Placement, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_provider(placement, "host")
    held: list[bool] = []
    commit, commit_locked = Transaction.commit, Committer._commit_locked
    head_moved = [HeadMoved()]

    def move_head_once(transaction: Transaction, statements: Sequence[Statement]) -> None:
        if head_moved:
            raise head_moved.pop()
        commit(transaction, statements)

    def record_calls(self: Committer, *args: object) -> object:
        held.append(placement.ledger._commit_lock._held)
        return commit_locked(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Transaction, "commit", move_head_once)
    monkeypatch.setattr(Committer, "_commit_locked", record_calls)
    make_provider(placement, "other")
    assert held == [True]
