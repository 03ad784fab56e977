# SPDX-License-Identifier: Apache-2.0

"""No write waits for ever: neither for the writes before it, nor for a thread or greenlet that has ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.ledger import current as presents
from plimsoll.ledger import ledger as ledgers
from plimsoll.ledger.command import Abandoned
from plimsoll.ledger.group_commit import GroupCommitLock, NotInTime, Waiter
from plimsoll.service.placement import Placement
from plimsoll.storage.errors import Busy, OutcomeUnknown
from tests.ledger.test_scribes import Desk, adding
from tests.support.waiting import eventually


def names(placement: Placement) -> set[str]:
    return {provider.name for provider in placement.world().providers.values()}


def test_a_write_that_is_not_begun_in_time_is_refused_and_never_written(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "QUEUE_SECONDS", 0.2)
    desk, ledger = Desk(placement), placement.ledger
    with ledger._scribe.nothing_under_way():
        desk.submit("leader", adding("leader"))
        assert eventually(lambda: ledger._pen._held and not ledger._queue)
        desk.submit("late", adding("late"))
        assert eventually(lambda: "late" in desk.outcomes)
        refused = desk.outcomes["late"]
        assert isinstance(refused, Busy)
        assert "was not begun within" in str(refused)
    desk.wait()
    assert names(placement) == {"leader"}
    desk.submit("next", adding("next"))
    desk.wait()
    assert names(placement) == {"leader", "next"}


def test_a_write_whose_batch_has_no_outcome_in_time_is_told_so(
    placement: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "QUEUE_SECONDS", 0.2)
    monkeypatch.setattr(ledgers, "OUTCOME_SECONDS", 0.2)
    desk, ledger = Desk(placement), placement.ledger
    with ledger._scribe.nothing_under_way():
        assert ledger._pen.taken_by(Waiter())
        for name in ("leader", "other"):
            desk.submit(name, adding(name))
        assert eventually(lambda: len(ledger._pen._waiting) == 2)
        ledger._pen.lay_down()
        assert eventually(lambda: bool(desk.outcomes))
        (waited,) = desk.outcomes.values()
        assert isinstance(waited, Abandoned)
        assert isinstance(waited, OutcomeUnknown)
        assert "has no outcome after" in str(waited)
    desk.wait()
    assert names(placement) == {"leader", "other"}


def test_a_read_does_not_wait_for_ever_for_the_snapshot_of_a_commit(
    placement: Placement, other: Placement, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presents, "COMMIT_SECONDS", 0.2)
    Desk(other).submit("new", adding("new"))
    assert eventually(lambda: names(other) == {"new"})
    with placement.ledger._present.replacing, pytest.raises(Busy, match="commit has been under way"):
        placement.world()
    assert names(placement) == {"new"}


GREENLETS = """
import sys
from gevent import monkey
monkey.patch_all()
import gevent
from gevent.event import Event
from plimsoll.domain import trees
from plimsoll.ledger.command import Command
from plimsoll.ledger.ledger import Ledger
from plimsoll.storage import migrate
from plimsoll.storage.database import Database
from tests.ledger.conftest import SOMEBODY

database = Database("sqlite:///" + sys.argv[1])
migrate.sync(database)
ledger = Ledger(database)
go_on = Event()

def writer(name, slow=False):
    def decide(draft):
        if slow:
            go_on.wait()
        return trees.add_provider(draft, name, name, None)
    return gevent.spawn(ledger.submit, Command("test", SOMEBODY, decide))

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
go_on.set()
gevent.joinall([leader, two], timeout=20, raise_error=True)
print(leader.ready(), two.ready(), written())
"""

A_LEADER_ENDS = """
leader, (one, two) = begin("one", "two")
leader.kill()
gevent.joinall([one, two], timeout=20, raise_error=True)
print(one.ready(), two.ready(), written())
"""

A_WAITER_ENDS_AS_IT_GETS_THE_PEN = """
from plimsoll.ledger.group_commit import Pen, Waiter
pen = Pen()
assert pen.taken_by(Waiter())
one, two = (gevent.spawn(pen.taken_by, Waiter()) for _ in range(2))
gevent.sleep(0.01)
one.kill(block=False)  # it is still waiting
pen.lay_down()
two.join(timeout=20)
print(two.ready(), two.value)
"""


@pytest.mark.parametrize(
    ("scenario", "printed"),
    [
        (A_WAITER_ENDS, "True True ['leader', 'two']"),
        (A_LEADER_ENDS, "True True ['one', 'two']"),
        (A_WAITER_ENDS_AS_IT_GETS_THE_PEN, "True True"),
    ],
    ids=["a waiter", "a leader", "a waiter that has just been given the pen"],
)
def test_a_greenlet_that_is_ended_leaves_no_other_waiting(
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


def test_the_pen_that_comes_as_the_wait_ends_is_taken_once() -> None:
    pen, first = GroupCommitLock(), Waiter()
    assert pen.taken_by(first)

    class Late(Waiter):
        """The pen is passed to it just after its first wait has timed out."""

        waits = 0

        def sleep(self, seconds: float = -1) -> bool:
            self.waits += 1
            if self.waits == 1:
                pen.lay_down()
                return False
            return super().sleep(seconds)

    late = Late()
    assert pen.taken_by(late, 0.01)
    pen.lay_down()
    assert pen.taken_by(first)
    with pytest.raises(NotInTime):
        pen.taken_by(late, 0.01)
