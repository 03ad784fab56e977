# SPDX-License-Identifier: Apache-2.0

"""The group commit lock: which waiter gets it, and which returns without it."""

import threading
import time

import pytest

from plimsoll.ledger.group_commit import GroupCommitLock, Waiter
from plimsoll.runtime.threads import Threads
from tests.ledger.test_commit_retry import TIMEOUT, start_thread


def test_a_waiter_that_is_finished_before_it_waits_does_not_block() -> None:
    lock, waiter = GroupCommitLock(), Waiter(Threads())
    assert lock.acquire(Waiter(Threads()))
    waiter.in_batch = True
    waiter.finish()
    assert not lock.acquire(waiter)


def test_a_waiter_in_a_batch_blocks_until_it_is_finished() -> None:
    lock, waiter, results = GroupCommitLock(), Waiter(Threads()), list[bool]()
    assert lock.acquire(Waiter(Threads()))
    waiter.in_batch = True
    waiting = start_thread(lambda: results.append(lock.acquire(waiter)))
    waiting.join(0.1)
    assert results == []
    waiter.finish()
    waiting.join(TIMEOUT)
    assert results == [False]


def test_a_finished_waiter_does_not_wait_for_the_next_leader() -> None:
    lock, waiter_returned, waiter = GroupCommitLock(), threading.Event(), Waiter(Threads())

    def waiting() -> None:
        assert not lock.acquire(waiter)
        waiter_returned.set()

    def next_leader() -> None:
        assert lock.acquire(Waiter(Threads()))
        waiter_returned.wait(TIMEOUT)
        lock.release()

    assert lock.acquire(Waiter(Threads()))
    threads = [start_thread(next_leader), start_thread(waiting)]
    time.sleep(0.05)
    waiter.in_batch = True
    waiter.finish()
    lock.release()
    for thread in threads:
        thread.join(TIMEOUT)
    assert waiter_returned.is_set()


class MutexThatEndsTheThread:
    """A mutex at whose first release the thread, or greenlet, that held it ends."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._has_ended_one = False

    def __enter__(self) -> None:
        self._mutex.acquire()

    def __exit__(self, *_: object) -> None:
        self._mutex.release()
        if not self._has_ended_one:
            self._has_ended_one = True
            raise SystemExit


@pytest.mark.parametrize("is_held", [True, False])
def test_the_lock_is_not_passed_to_a_thread_that_has_ended(is_held: bool) -> None:
    lock = GroupCommitLock()
    if is_held:
        assert lock.acquire(Waiter(Threads()))
    lock._mutex = MutexThatEndsTheThread()  # type: ignore[assignment]
    with pytest.raises(SystemExit):
        lock.acquire(Waiter(Threads()))
    if is_held:
        lock.release()
    assert lock.acquire(Waiter(Threads()), 1)
