# SPDX-License-Identifier: Apache-2.0

"""Every wait of a write ends: for the writes before it, and for a thread or greenlet that has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.ledger import current
from plimsoll.ledger import ledger as ledger_module
from plimsoll.ledger.command import Abandoned
from plimsoll.ledger.group_commit import GroupCommitLock, LockTimeout, Waiter
from plimsoll.runtime.threads import Threads
from plimsoll.service.placement import Placement
from plimsoll.storage.errors import Busy, OutcomeUnknown
from tests.ledger.test_commit_retry import Submitter, adds_provider
from tests.support.waiting import eventually


def names(placement: Placement) -> set[str]:
    return {provider.name for provider in placement.world().providers.values()}


def test_a_write_that_times_out_in_the_queue_is_never_written(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "QUEUE_SECONDS", 0.2)
    submitter, ledger = Submitter(placement), placement.ledger
    with ledger._retrier.block_commits():
        submitter.submit("leader", adds_provider("leader"))
        assert eventually(lambda: ledger._commit_lock._held and not ledger._queue)
        submitter.submit("late", adds_provider("late"))
        assert eventually(lambda: "late" in submitter.outcomes)
        refused = submitter.outcomes["late"]
        assert isinstance(refused, Busy)
        assert "was not begun within" in str(refused)
    submitter.wait()
    assert names(placement) == {"leader"}
    submitter.submit("next", adds_provider("next"))
    submitter.wait()
    assert names(placement) == {"leader", "next"}


def test_a_write_whose_batch_has_no_outcome_in_time_raises_abandoned(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "QUEUE_SECONDS", 0.2)
    monkeypatch.setattr(ledger_module, "OUTCOME_SECONDS", 0.2)
    submitter, ledger = Submitter(placement), placement.ledger
    with ledger._retrier.block_commits():
        assert ledger._commit_lock.acquire(Waiter(Threads()))
        for name in ("leader", "other"):
            submitter.submit(name, adds_provider(name))
        assert eventually(lambda: len(ledger._commit_lock._waiters) == 2)
        ledger._commit_lock.release()
        assert eventually(lambda: bool(submitter.outcomes))
        (outcome,) = submitter.outcomes.values()
        assert isinstance(outcome, Abandoned)
        assert isinstance(outcome, OutcomeUnknown)
        assert "has no outcome after" in str(outcome)
    submitter.wait()
    assert names(placement) == {"leader", "other"}


def test_a_read_times_out_while_it_waits_for_the_snapshot_of_a_commit(
    placement: Placement, other: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current, "COMMIT_SECONDS", 0.2)
    Submitter(other).submit("new", adds_provider("new"))
    assert eventually(lambda: names(other) == {"new"})
    with placement.ledger._current.publish_lock, pytest.raises(Busy, match="commit has been under way"):
        placement.world()
    assert names(placement) == {"new"}


GREENLETS = """
import sys
from gevent import monkey
monkey.patch_all()
import gevent
from gevent.event import Event
from plimsoll.domain.rules import providers
from plimsoll.ledger.command import Command
from plimsoll.ledger.ledger import Ledger
from plimsoll.runtime.greenlets import Greenlets
from plimsoll.storage.database import Database
from plimsoll.storage.schema import migrate
from tests.ledger.conftest import ACTOR

database = Database("sqlite:///" + sys.argv[1], runtime=Greenlets())
migrate.sync(database)
ledger = Ledger(database)
proceed = Event()

def writer(name, slow=False):
    def decide(draft):
        if slow:
            proceed.wait()
        return providers.add_provider(draft, name, name, None)
    return gevent.spawn(ledger.submit, Command("test", ACTOR, decide))

def written():
    return sorted(provider.name for provider in ledger.world().providers.values())

def begin(*names):
    leader = writer("leader", slow=True)
    gevent.sleep(0.01)
    waiting = [writer(name) for name in names]
    gevent.sleep(0.01)
    return leader, waiting
"""

A_WAITER_ENDS = """
leader, (one, two) = begin("one", "two")
one.kill()
proceed.set()
gevent.joinall([leader, two], timeout=20, raise_error=True)
print(leader.ready(), two.ready(), written())
"""

A_LEADER_ENDS = """
leader, (one, two) = begin("one", "two")
leader.kill()
gevent.joinall([one, two], timeout=20, raise_error=True)
print(one.ready(), two.ready(), written())
"""

A_WAITER_ENDS_AS_IT_GETS_THE_LOCK = """
from plimsoll.ledger.group_commit import GroupCommitLock, Waiter
lock = GroupCommitLock()
assert lock.acquire(Waiter(ledger.runtime))
one, two = (gevent.spawn(lock.acquire, Waiter(ledger.runtime)) for _ in range(2))
gevent.sleep(0.01)
one.kill(block=False)  # it is still waiting
lock.release()
two.join(timeout=20)
print(two.ready(), two.value)
"""


@pytest.mark.parametrize(
    ("scenario", "printed"),
    [
        (A_WAITER_ENDS, "True True ['leader', 'two']"),
        (A_LEADER_ENDS, "True True ['one', 'two']"),
        (A_WAITER_ENDS_AS_IT_GETS_THE_LOCK, "True True"),
    ],
    ids=["a waiter", "a leader", "a waiter that has just got the lock"],
)
def test_a_greenlet_that_is_killed_leaves_no_other_blocked(
    tmp_path: Path, scenario: str, printed: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GREENLETS + scenario, str(tmp_path / "database")],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.stdout.strip() == printed, done.stderr


def test_a_lock_that_is_passed_right_after_a_timeout_is_acquired_once() -> None:
    lock, first = GroupCommitLock(), Waiter(Threads())
    assert lock.acquire(first)

    class Late(Waiter):
        """The lock is passed to it right after its first wait has timed out."""

        wait_count = 0

        def wait(self, timeout: float = -1) -> bool:
            self.wait_count += 1
            if self.wait_count == 1:
                lock.release()
                return False
            return super().wait(timeout)

    late = Late(Threads())
    assert lock.acquire(late, 0.01)
    lock.release()
    assert lock.acquire(first)
    with pytest.raises(LockTimeout):
        lock.acquire(late, 0.01)
