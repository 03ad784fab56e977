# SPDX-License-Identifier: Apache-2.0

"""The search for an order of all operations that explains all answers. The package's docstring tells how.

A finding is an operation that no order explains. The search then goes on as if that operation had not been: what
else is wrong may be seen too, but after the first finding none is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.audit.findings import Finding, testimony
from tests.audit.meetings import reach
from tests.audit.model import EMPTY, World, fits, respond
from tests.audit.model.promises import broken_by, broken_in
from tests.audit.operations import Fate, Operation

MOST_POSSIBILITIES = 20_000
MOST_FINDINGS = 3
CHECKED_EVERY = 500
"""After how many operations the sums of a world are counted anew."""


class Possibility(NamedTuple):
    """A world that may be, and which of the operations under way have happened in it."""

    world: World
    done: frozenset[int]


@dataclass
class Outcome:
    findings: list[Finding]
    worlds: list[World]
    """Those that may be at the end. None if the search was given up before."""
    most: int
    """How many possibilities there were at the worst moment."""


Progress = Callable[[int, int], None]


class Search:
    """Goes through a history once. `explain` puts a dead end into words."""

    def __init__(self, operations: Sequence[Operation], start: World = EMPTY) -> None:
        self.operations = operations
        self.under_way: dict[int, Operation] = {}
        self.possibilities = [Possibility(start, frozenset())]
        self.findings: list[Finding] = []
        self.most = 1
        self.passed: list[int] = []
        """The operations that have ended, in this order."""

    def run(self, progress: Progress | None = None) -> Outcome:
        events = _events(self.operations)
        for number, (_, ends, key) in enumerate(events):
            operation = self.operations[key]
            if not ends:
                self._begin(key, operation)
            elif operation.fate is Fate.OPEN:
                self._close(key)
            else:
                self._end(key, operation)
            if number % CHECKED_EVERY == 0:
                for broken in broken_in(self.possibilities[0].world):
                    raise AssertionError(f"the model is wrong: {broken}")
                if progress is not None:
                    progress(number, len(events))
            if len(self.findings) >= MOST_FINDINGS:
                return Outcome(self.findings, [], self.most)
        return Outcome(self.findings, [possibility.world for possibility in self.possibilities], self.most)

    def reachable(self, wanted: Callable[[World], bool]) -> Iterator[World]:
        """The worlds that may be now, as operations still open have happened or not."""
        seen = set()
        queue = list(self.possibilities)
        for possibility in queue:
            if possibility in seen:
                continue
            seen.add(possibility)
            if wanted(possibility.world):
                yield possibility.world
            queue.extend(self._after_any(possibility, self.under_way))

    # The three events

    def _begin(self, key: int, operation: Operation) -> None:
        self.under_way[key] = operation
        if operation.changes_nothing:
            self.possibilities = [self._with_harmless(each, (key,)) for each in self.possibilities]

    def _end(self, key: int, operation: Operation) -> None:
        found = self._possibilities_with(key)
        if not found:
            self.findings.append(self._testimony(key))
            found = set(self.possibilities)
        self.most = max(self.most, len(found))
        del self.under_way[key]
        self.passed.append(key)
        self._keep(found, key)

    def _testimony(self, key: int) -> Finding:
        reaches = [self.under_way[other] for other in self._concerned(key, self.possibilities[0])[1:]]
        past = [self.operations[other] for other in self.passed]
        unwritten = [each for each in self.operations if each.fate is Fate.NOT_WRITTEN]
        worlds = [possibility.world for possibility in self.possibilities]
        return testimony(self.operations[key], worlds, reaches, past, unwritten)

    def _close(self, key: int) -> None:
        del self.under_way[key]
        self._keep(self.possibilities, key)

    def _keep(self, found: Iterable[Possibility], ended: int) -> None:
        """What has ended is done everywhere, and need not be remembered."""
        kept = dict.fromkeys(
            Possibility(each.world, each.done - {ended}) if ended in each.done else each for each in found
        )
        self.possibilities = list(kept)
        if len(kept) > MOST_POSSIBILITIES:
            raise Undecided(f"more than {MOST_POSSIBILITIES} possibilities: the history does not tell enough")

    # The steps between worlds

    def _possibilities_with(self, key: int) -> set[Possibility]:
        """All possibilities in which the operation has happened."""
        found: set[Possibility] = set()
        seen: set[Possibility] = set()
        queue = list(self.possibilities)
        while queue:
            possibility = queue.pop()
            if possibility in seen:
                continue
            seen.add(possibility)
            if key in possibility.done:
                found.add(possibility)
                continue
            queue.extend(self._after_any(possibility, self._concerned(key, possibility)))
            if len(seen) > 10 * MOST_POSSIBILITIES:
                raise Undecided(f"too many orders are possible around {self.operations[key]}")
        return found

    def _after_any(self, possibility: Possibility, keys: Iterable[int]) -> Iterator[Possibility]:
        for key in keys:
            if key not in possibility.done and not self.under_way[key].changes_nothing:
                after = self._after(possibility, key)
                if after is not None:
                    yield after

    def _after(self, possibility: Possibility, key: int) -> Possibility | None:
        """The possibility after a write has happened in it, or None if it would have been answered otherwise."""
        operation = self.under_way[key]
        said, world = respond(possibility.world, operation.request)
        if said.is_refusal or not fits(said, operation):
            return None
        for broken in broken_by(possibility.world, world):
            raise AssertionError(f"the model is wrong: {broken} by {operation}")
        after = Possibility(world, possibility.done | {key})
        return self._with_harmless(after, self.under_way)

    def _with_harmless(self, possibility: Possibility, keys: Iterable[int]) -> Possibility:
        """Reads and refusals happen as soon as they can: that hinders nobody."""
        done = {
            key
            for key in keys
            if key not in possibility.done
            and self.under_way[key].changes_nothing
            and fits(respond(possibility.world, self.under_way[key].request)[0], self.under_way[key])
        }
        return Possibility(possibility.world, possibility.done | done) if done else possibility

    def _concerned(self, key: int, possibility: Possibility) -> list[int]:
        """The operations that meet this one, or one that meets it, and so on: the others may as well come later."""
        waiting = {other for other in self.under_way if other not in possibility.done}
        operations = [self.under_way[other] for other in waiting]
        reaches = {other: reach(self.under_way[other], possibility.world, operations) for other in waiting}
        concerned = [key]
        waiting.discard(key)
        for each in concerned:
            meeting = [other for other in waiting if reaches[each].meets(reaches[other])]
            concerned.extend(meeting)
            waiting.difference_update(meeting)
        return concerned


class Undecided(Exception):
    """The auditor can say neither yes nor no."""


def _events(operations: Sequence[Operation]) -> list[tuple[int, bool, int]]:
    """Beginnings and ends in the order of time; at the same time, beginnings first. What did not happen has none."""
    events = []
    for key, operation in enumerate(operations):
        if operation.fate in (Fate.NOT_SENT, Fate.NOT_WRITTEN):
            continue
        if operation.fate is Fate.OPEN:
            if operation.request.method == "GET":
                continue
            events.append((operation.began, False, key))
            if operation.closed is not None:
                events.append((operation.closed, True, key))
            continue
        events.append((operation.began, False, key))
        events.append((operation.ended, True, key))
    events.sort()
    return events
