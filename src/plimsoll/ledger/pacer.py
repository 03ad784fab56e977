# SPDX-License-Identifier: Apache-2.0

"""Pauses between the commits of one process, so that writers at other nodes of a Galera cluster commit too.

A row lock holds at one node only. Processes at different nodes write concurrently, the first commit wins, and the
others fail and retry. The winner has the newest state in memory, so it wins the next race as well: without pauses, one
node made 7,762 of 7,766 commits in 20 seconds and the writes at the two other nodes timed out. The winner cannot detect
transactions that fail at other nodes. So it pauses once a second even while it detects no other writer, long enough for
another node to retry and to commit. As soon as it sees a commit of another process, or loses a race, it pauses after
each of its commits.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from plimsoll.storage.head import Head

CONTENDED_SECONDS = 2.0
"""How long after a lost race, or a commit of another process, each commit is followed by a pause."""
MAX_PAUSE = 0.03
"""Seconds. The pause after a commit is a random part of it, so that processes do not run in lockstep."""
UNCONTENDED_SECONDS = 1.0
"""How long one process writes without a pause while it sees no other writer."""
UNCONTENDED_PAUSE = 0.05
"""Seconds in which a process at another node can retry and commit: it retries at least every 10 ms."""


class CommitPacer:
    """The pauses of one process. Time is given in seconds of a monotonic clock, `part` is a random number below 1."""

    def __init__(self, part: Callable[[], float] = random.random) -> None:
        self._part = part
        self._contended_until = self._last_commit = self._last_gap = float("-inf")
        self._last_head: Head | None = None

    def pause(self, now: float) -> float:
        """Seconds to wait before the next commit begins."""
        idle = now - self._last_commit
        if now < self._contended_until:
            return max(0.0, self._part() * MAX_PAUSE - idle)
        if idle >= UNCONTENDED_PAUSE:
            self._last_gap = now
        if now - self._last_gap < UNCONTENDED_SECONDS:
            return 0.0
        self._last_gap = now
        return UNCONTENDED_PAUSE

    def note_lost_race(self, now: float) -> None:
        self._contended_until = now + CONTENDED_SECONDS

    def note_commit(self, now: float, before: Head, head: Head) -> None:
        """This process has moved the head. If another one has moved it in between, both are writing."""
        if self._last_head is not None and before != self._last_head:
            self._contended_until = now + CONTENDED_SECONDS
        self._last_head = head
        self._last_commit = now
