# SPDX-License-Identifier: Apache-2.0

"""Many threads on one ledger: group commit, and the outcomes of commands whose batch fails."""

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
from plimsoll.ledger.verify import differences
from plimsoll.service.placement import Placement
from plimsoll.storage import changes
from plimsoll.storage.database import Database
from tests.ledger.conftest import ACTOR
from tests.ledger.test_ledger import make_provider
from tests.support.external_writes import committed_write

TIMEOUT = 20.0


def adds_provider(name: str) -> Decision:
    return lambda draft: providers.add_provider(draft, str(uuid4()), name, None)


class ThreadStopped(BaseException):
    """Like SystemExit: not an error of a command, but the end of the thread that leads the batch."""


def stops_thread(_: Draft) -> Refusal | None:
    raise ThreadStopped


class Submitter:
    """Submits commands, each in a thread of its own, and collects their outcomes."""

    def __init__(self, placement: Placement) -> None:
        self._ledger = placement.ledger
        self._threads: list[threading.Thread] = []
        self.outcomes: dict[str, object] = {}

    def submit(self, name: str, decide: Decision) -> None:
        def run() -> None:
            try:
                self.outcomes[name] = self._ledger.submit(Command("test", ACTOR, decide))
            except BaseException as raised:
                self.outcomes[name] = raised

        self._threads.append(start_thread(run))

    def wait(self) -> None:
        for thread in self._threads:
            thread.join(TIMEOUT)
            assert not thread.is_alive(), "a thread is blocked"


def start_thread(run: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@contextmanager
def while_commits_are_blocked(placement: Placement, submitter: Submitter) -> Iterator[None]:
    """Up to three commands submitted in this context queue up in this order, and are then written in one batch."""
    placement.ledger._last_batch_size = 3  # the limit of a batch is half of these and the queued ones
    with placement.ledger._retrier.block_commits():
        yield
        time.sleep(0.1)
    submitter.wait()


def test_commands_that_queue_up_behind_a_batch_are_committed_together(
    placement: Placement, database: Database
) -> None:
    submitter = Submitter(placement)
    with while_commits_are_blocked(placement, submitter):
        for name in ("one", "two", "three"):
            submitter.submit(name, adds_provider(name))
            time.sleep(0.02)
    assert all(isinstance(outcome, World) for outcome in submitter.outcomes.values())
    with database.read() as conn:
        last = changes.since(conn, placement.ledger.snapshot().head.seq - 3, limit=3)
    assert len({change.at for change in last}) == 1


def test_no_command_succeeds_that_was_not_committed(placement: Placement) -> None:
    submitter = Submitter(placement)
    with while_commits_are_blocked(placement, submitter):
        for name, decide in (
            ("one", adds_provider("one")),
            ("stop", stops_thread),
            ("two", adds_provider("two")),
        ):
            submitter.submit(name, decide)
            time.sleep(0.02)
    assert sorted(type(outcome).__name__ for outcome in submitter.outcomes.values()) == [
        Abandoned.__name__,
        Abandoned.__name__,
        ThreadStopped.__name__,
    ]
    assert len(placement.world().providers) == 0
    make_provider(placement, "next")


def test_a_read_does_not_wait_for_a_commit_that_began_later(placement: Placement) -> None:
    make_provider(placement, "host")
    before = placement.ledger.snapshot().head.seq
    heads_seen: list[int] = []
    with placement.ledger._current.publish_lock:  # as a leader holds it while its commit is in flight
        reader = start_thread(lambda: heads_seen.append(placement.ledger.snapshot().head.seq))
        reader.join(TIMEOUT)
        assert heads_seen == [before]


def test_a_reload_is_not_undone_by_a_batch_that_was_being_decided(
    placement: Placement, database: Database
) -> None:
    host = make_provider(placement, "host", VCPU=4)
    with committed_write(database) as conn:
        conn.exec_driver_sql("UPDATE inventories SET total = 7")
    started, proceed = threading.Event(), threading.Event()

    def slow_decision(draft: Draft) -> Refusal | None:
        started.set()
        proceed.wait(TIMEOUT)
        return providers.add_provider(draft, str(uuid4()), "other", None)

    submitter = Submitter(placement)
    submitter.submit("slow", slow_decision)
    assert started.wait(TIMEOUT)
    reload = start_thread(placement.ledger.reload)
    reload.join(0.1)
    proceed.set()
    reload.join(TIMEOUT)
    submitter.wait()
    assert placement.world().providers[host.uuid].inventories == {"VCPU": Inventory(7)}
    assert differences(placement.ledger) == []
