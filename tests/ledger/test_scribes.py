# SPDX-License-Identifier: Apache-2.0

"""Many threads at one ledger: who waits, for whom, and what they are told when something goes wrong."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

from plimsoll.domain.draft import Decision, Draft
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.rules import providers
from plimsoll.domain.world import World
from plimsoll.ledger.command import Abandoned, Command
from plimsoll.ledger.group_commit import GroupCommitLock, Waiter
from plimsoll.ledger.verify import differences
from plimsoll.service.placement import Placement
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from tests.ledger.conftest import SOMEBODY
from tests.ledger.test_ledger import make

PATIENCE = 20.0


def adding(name: str) -> Decision:
    return lambda draft: providers.add_provider(draft, str(uuid4()), name, None)


class Stopped(BaseException):
    """As SystemExit is: no fault of a command, but the end of the thread that writes."""


def stopping(_: Draft) -> Refusal | None:
    raise Stopped


class Desk:
    """Submits commands, each in a thread of its own, and keeps what became of them."""

    def __init__(self, placement: Placement) -> None:
        self._ledger = placement.ledger
        self._threads: list[threading.Thread] = []
        self.outcomes: dict[str, object] = {}

    def submit(self, name: str, decide: Decision) -> None:
        def run() -> None:
            try:
                self.outcomes[name] = self._ledger.submit(Command("test", SOMEBODY, decide))
            except BaseException as raised:
                self.outcomes[name] = raised

        self._threads.append(in_thread(run))

    def wait(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "somebody waits for ever"


def in_thread(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@contextmanager
def while_a_batch_is_under_way(placement: Placement, desk: Desk) -> Iterator[None]:
    """What is submitted meanwhile queues up, in this order, and is then written together."""
    with placement.ledger._scribe.nothing_under_way():
        yield
        time.sleep(0.1)
    desk.wait()


def test_what_queues_up_while_a_batch_is_under_way_is_committed_together(
    placement: Placement, database: Database
) -> None:
    desk = Desk(placement)
    with while_a_batch_is_under_way(placement, desk):
        for name in ("one", "two", "three"):
            desk.submit(name, adding(name))
            time.sleep(0.02)
    assert all(isinstance(outcome, World) for outcome in desk.outcomes.values())
    with database.read() as conn:
        last = changes.since(conn, placement.ledger.snapshot().head.seq - 3, most=3)
    assert len({change.at for change in last}) == 1


def test_nobody_is_told_of_a_success_that_was_never_committed(placement: Placement) -> None:
    desk = Desk(placement)
    with while_a_batch_is_under_way(placement, desk):
        for name, decide in (("one", adding("one")), ("stop", stopping), ("two", adding("two"))):
            desk.submit(name, decide)
            time.sleep(0.02)
    assert sorted(type(outcome).__name__ for outcome in desk.outcomes.values()) == [
        Abandoned.__name__,
        Abandoned.__name__,
        Stopped.__name__,
    ]
    assert len(placement.world().providers) == 0
    make(placement, "next")


def test_a_read_does_not_wait_for_a_commit_that_it_need_not_see(placement: Placement) -> None:
    make(placement, "host")
    before = placement.ledger.snapshot().head.seq
    seen: list[int] = []
    with placement.ledger._present.replacing:  # as a scribe holds it while its commit goes to disk
        reader = in_thread(lambda: seen.append(placement.ledger.snapshot().head.seq))
        reader.join(PATIENCE)
        assert seen == [before]


def test_a_repair_is_not_undone_by_a_batch_that_was_under_way(
    placement: Placement, database: Database
) -> None:
    host = make(placement, "host", VCPU=4)
    with database.write() as conn:
        conn.exec_driver_sql("UPDATE inventories SET total = 7")
    deciding, go_on = threading.Event(), threading.Event()

    def slowly(draft: Draft) -> Refusal | None:
        deciding.set()
        go_on.wait(PATIENCE)
        return providers.add_provider(draft, str(uuid4()), "other", None)

    desk = Desk(placement)
    desk.submit("slow", slowly)
    assert deciding.wait(PATIENCE)
    repair = in_thread(placement.ledger.reload)
    repair.join(0.1)
    go_on.set()
    repair.join(PATIENCE)
    desk.wait()
    assert placement.world().providers[host.uuid].inventories == {"VCPU": Inventory(7)}
    assert differences(placement.ledger) == []


def test_who_was_seen_to_and_finished_before_waiting_does_not_wait() -> None:
    pen, waiter = GroupCommitLock(), Waiter()
    assert pen.taken_by(Waiter())
    waiter.seen_to = True
    waiter.finish()
    assert not pen.taken_by(waiter)


def test_who_was_seen_to_before_waiting_waits_until_it_is_done() -> None:
    pen, waiter, told = GroupCommitLock(), Waiter(), list[bool]()
    assert pen.taken_by(Waiter())
    waiter.seen_to = True
    waiting = in_thread(lambda: told.append(pen.taken_by(waiter)))
    waiting.join(0.1)
    assert told == []
    waiter.finish()
    waiting.join(PATIENCE)
    assert told == [False]


def test_who_is_done_does_not_wait_for_the_next_scribe() -> None:
    pen, left, waiter = GroupCommitLock(), threading.Event(), Waiter()

    def waiting() -> None:
        assert not pen.taken_by(waiter)
        left.set()

    def next_scribe() -> None:
        assert pen.taken_by(Waiter())
        left.wait(PATIENCE)
        pen.lay_down()

    assert pen.taken_by(Waiter())
    threads = [in_thread(next_scribe), in_thread(waiting)]
    time.sleep(0.05)
    waiter.seen_to = True
    waiter.finish()
    pen.lay_down()
    for thread in threads:
        thread.join(PATIENCE)
    assert left.is_set()
