# SPDX-License-Identifier: Apache-2.0

"""Search for an order of all operations that explains all responses. See the docstring of the package.

A finding is an operation that no order explains. The search then continues as if that operation had not happened:
this may show other faults, but only the first finding is certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tests.audit.conflicts import footprint
from tests.audit.findings import Finding, unexplained
from tests.audit.model import EMPTY, State, fits, respond
from tests.audit.model.invariants import violations_by_step, violations_in
from tests.audit.operations import Completion, Operation

MAX_POSSIBILITIES = 20_000
MAX_FINDINGS = 3
CHECK_INTERVAL = 500
"""Number of events between two checks of the sums of a state."""


class Possibility(NamedTuple):
    """A possible state, and which of the pending operations have happened in it."""

    state: State
    done: frozenset[int]


@dataclass
class Outcome:
    findings: list[Finding]
    states: list[State]
    """Possible final states. Empty if the search ended early."""
    max_count: int
    """The largest number of possibilities at a time."""


Progress = Callable[[int, int], None]


class Search:
    """One pass through a history."""

    def __init__(self, operations: Sequence[Operation], start: State = EMPTY) -> None:
        self.operations = operations
        self.pending: dict[int, Operation] = {}
        self.possibilities = [Possibility(start, frozenset())]
        self.findings: list[Finding] = []
        self.max_count = 1
        self.ended: list[int] = []
        """Operations that have ended, in the order of their end."""

    def run(self, progress: Progress | None = None) -> Outcome:
        events = _events(self.operations)
        for number, (_, ends, key) in enumerate(events):
            operation = self.operations[key]
            if not ends:
                self._begin(key, operation)
            elif operation.completion is Completion.UNKNOWN:
                self._close(key)
            else:
                self._end(key, operation)
            if number % CHECK_INTERVAL == 0:
                for violation in violations_in(self.possibilities[0].state):
                    raise AssertionError(f"the model is wrong: {violation}")
                if progress is not None:
                    progress(number, len(events))
            if len(self.findings) >= MAX_FINDINGS:
                return Outcome(self.findings, [], self.max_count)
        return Outcome(
            self.findings, [possibility.state for possibility in self.possibilities], self.max_count
        )

    def reachable(self, wanted: Callable[[State], bool]) -> Iterator[State]:
        """Yield the possible states now that satisfy `wanted`: each unknown operation has happened or not."""
        visited = set()
        queue = list(self.possibilities)
        for possibility in queue:
            if possibility in visited:
                continue
            visited.add(possibility)
            if wanted(possibility.state):
                yield possibility.state
            queue.extend(self._after_any(possibility, self.pending))

    # Events: an operation begins, ends, or can no longer happen

    def _begin(self, key: int, operation: Operation) -> None:
        self.pending[key] = operation
        if operation.changes_nothing:
            self.possibilities = [self._with_reads_done(each, (key,)) for each in self.possibilities]

    def _end(self, key: int, operation: Operation) -> None:
        found = self._possibilities_with(key)
        if not found:
            self.findings.append(self._unexplained(key))
            found = set(self.possibilities)
        self.max_count = max(self.max_count, len(found))
        del self.pending[key]
        self.ended.append(key)
        self._store(found, key)

    def _unexplained(self, key: int) -> Finding:
        concurrent = [self.pending[other] for other in self._conflicting(key, self.possibilities[0])[1:]]
        past = [self.operations[other] for other in self.ended]
        not_written = [each for each in self.operations if each.completion is Completion.NOT_WRITTEN]
        states = [possibility.state for possibility in self.possibilities]
        return unexplained(self.operations[key], states, concurrent, past, not_written)

    def _close(self, key: int) -> None:
        del self.pending[key]
        self._store(self.possibilities, key)

    def _store(self, found: Iterable[Possibility], key: int) -> None:
        """Store the possibilities without the ended operation: it is done in all of them, or can no longer happen."""
        unique = dict.fromkeys(
            Possibility(each.state, each.done - {key}) if key in each.done else each for each in found
        )
        self.possibilities = list(unique)
        if len(unique) > MAX_POSSIBILITIES:
            raise Undecided(
                f"more than {MAX_POSSIBILITIES} possibilities: the history does not contain enough information"
            )

    # Steps between states

    def _possibilities_with(self, key: int) -> set[Possibility]:
        """Return all reachable possibilities in which the operation has happened."""
        found: set[Possibility] = set()
        visited: set[Possibility] = set()
        queue = list(self.possibilities)
        while queue:
            possibility = queue.pop()
            if possibility in visited:
                continue
            visited.add(possibility)
            if key in possibility.done:
                found.add(possibility)
                continue
            queue.extend(self._after_any(possibility, self._conflicting(key, possibility)))
            if len(visited) > 10 * MAX_POSSIBILITIES:
                raise Undecided(f"too many orders are possible around {self.operations[key]}")
        return found

    def _after_any(self, possibility: Possibility, keys: Iterable[int]) -> Iterator[Possibility]:
        for key in keys:
            if key not in possibility.done and not self.pending[key].changes_nothing:
                after = self._after(possibility, key)
                if after is not None:
                    yield after

    def _after(self, possibility: Possibility, key: int) -> Possibility | None:
        """Return the possibility after a write, or None if the model's response differs."""
        operation = self.pending[key]
        response, state = respond(possibility.state, operation.request)
        if response.is_refusal or not fits(response, operation):
            return None
        for violation in violations_by_step(possibility.state, state):
            raise AssertionError(f"the model is wrong: {violation} by {operation}")
        after = Possibility(state, possibility.done | {key})
        return self._with_reads_done(after, self.pending)

    def _with_reads_done(self, possibility: Possibility, keys: Iterable[int]) -> Possibility:
        """Mark reads and refusals as done as soon as their response fits: they change no state."""
        done = {
            key
            for key in keys
            if key not in possibility.done
            and self.pending[key].changes_nothing
            and fits(respond(possibility.state, self.pending[key].request)[0], self.pending[key])
        }
        return Possibility(possibility.state, possibility.done | done) if done else possibility

    def _conflicting(self, key: int, possibility: Possibility) -> list[int]:
        """Return the operations that conflict with this one, directly or through others. The rest may come later."""
        not_done = {other for other in self.pending if other not in possibility.done}
        operations = [self.pending[other] for other in not_done]
        footprints = {
            other: footprint(self.pending[other], possibility.state, operations) for other in not_done
        }
        conflicting = [key]
        not_done.discard(key)
        for each in conflicting:
            direct = [other for other in not_done if footprints[each].conflicts_with(footprints[other])]
            conflicting.extend(direct)
            not_done.difference_update(direct)
        return conflicting


class Undecided(Exception):
    """The auditor cannot decide whether the history is correct."""


def _events(operations: Sequence[Operation]) -> list[tuple[int, bool, int]]:
    """Return starts and ends sorted by time, starts first. Operations that did not happen are left out."""
    events = []
    for key, operation in enumerate(operations):
        if operation.completion in (Completion.NOT_SENT, Completion.NOT_WRITTEN):
            continue
        if operation.completion is Completion.UNKNOWN:
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
