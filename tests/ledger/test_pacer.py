# SPDX-License-Identifier: Apache-2.0

"""Pauses between the commits of a process on a Galera cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from plimsoll.ledger.pacer import (
    CONTENDED_SECONDS,
    MAX_PAUSE,
    UNCONTENDED_PAUSE,
    UNCONTENDED_SECONDS,
    CommitPacer,
)
from plimsoll.storage.head import Head

STEP = 0.01


def head(number: int) -> Head:
    return Head(number, number)


def half() -> float:
    return 0.5


def pauses(
    pacer: CommitPacer, seconds: float, begin: float = 0.0, before: Callable[[int], Head] = head
) -> list[float]:
    """The pauses of a process that commits every hundredth of a second."""
    found: list[float] = []
    for number in itertools.count():
        now = begin + number * STEP
        if now > begin + seconds:
            return found
        found.append(pacer.pause(now))
        pacer.note_commit(now, before(number), head(number + 1))
    raise AssertionError


def test_the_only_writer_pauses_once_a_second_so_that_another_node_can_commit() -> None:
    found = pauses(CommitPacer(half), 4 * UNCONTENDED_SECONDS)
    assert [pause for pause in found if pause] == [UNCONTENDED_PAUSE] * 4


def test_a_process_that_seldom_writes_never_pauses() -> None:
    pacer = CommitPacer(half)
    for number in range(100):
        assert pacer.pause(number * 2 * UNCONTENDED_PAUSE) == 0
        pacer.note_commit(number * 2 * UNCONTENDED_PAUSE, head(number), head(number + 1))


def test_each_commit_is_followed_by_a_pause_while_another_process_commits_in_between() -> None:
    found = pauses(CommitPacer(half), 1, before=lambda number: Head(number, -1))
    assert not any(found[:2])  # the commit of the other process is seen with the second of ours
    assert all(found[2:])
    assert max(found) <= MAX_PAUSE


def test_a_lost_race_is_followed_by_pauses_for_a_while() -> None:
    pacer = CommitPacer(half)
    pacer.note_commit(0.0, head(0), head(1))
    pacer.note_lost_race(0.0)
    assert pacer.pause(0.0) == MAX_PAUSE / 2
    assert pacer.pause(MAX_PAUSE) == 0  # it has been idle for long enough
    assert pacer.pause(CONTENDED_SECONDS) == 0
