# SPDX-License-Identifier: Apache-2.0

"""Findings of the auditor, with details that help to find the cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tests.audit.conflicts import ALL_TABLES, footprint
from tests.audit.model import State, fits, respond
from tests.audit.operations import Operation

SHOWN_STATES = 3
SHOWN_PAST = 8
SUSPECTED = 300
"""How many past operations are tested as possible double writes."""


@dataclass
class Finding:
    """A violation, and the operations that led to it."""

    summary: str
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n    ".join([self.summary, *self.lines])


def unexplained(
    operation: Operation,
    states: Sequence[State],
    concurrent: Sequence[Operation],
    past: Sequence[Operation],
    not_written: Iterable[Operation],
) -> Finding:
    """Describe an operation that no order explains: expected responses, concurrent and earlier operations, suspects."""
    lines = [f"expected: {respond(state, operation.request)[0]}" for state in states[:SHOWN_STATES]]
    if len(states) > SHOWN_STATES:
        lines.append(f"and {len(states) - SHOWN_STATES} more possibilities")
    lines.extend(f"at the same time: {other}" for other in concurrent)
    related = _related(operation, states[0], past)
    lines.extend(f"before: {other}" for other in reversed(list(islice(related, SHOWN_PAST))))
    lines.extend(_suspects(operation, states, past, not_written))
    return Finding(f"no order explains {operation}", lines)


def _related(operation: Operation, state: State, past: Sequence[Operation]) -> Iterator[Operation]:
    """Yield writes with a common provider, consumer or name, the last one first."""
    touched = _touched(operation, state)
    for other in reversed(past):
        if not other.changes_nothing and not touched.isdisjoint(_touched(other, state)):
            yield other


def _touched(operation: Operation, state: State) -> frozenset[str]:
    """Return the operation's providers and consumers, or its name tables if it has none of these."""
    accessed = footprint(operation, state, ())
    touched = accessed.reads | accessed.writes
    return touched - ALL_TABLES or touched


def _suspects(
    operation: Operation, states: Sequence[State], past: Sequence[Operation], not_written: Iterable[Operation]
) -> Iterator[str]:
    """Yield single writes that would explain the operation if they had happened (again)."""
    for other in not_written:
        if other.began < operation.ended and _would_explain(other, operation, states):
            yield f"EXPLAINED IF this was written after all: {other}"
    for other in islice(_related(operation, states[0], past), SUSPECTED):
        if _would_explain(other, operation, states):
            yield f"EXPLAINED IF this was written twice: {other}"


def _would_explain(suspect: Operation, operation: Operation, states: Sequence[State]) -> bool:
    for state in states[:SHOWN_STATES]:
        response, after = respond(state, suspect.request)
        if (
            not response.is_refusal
            and after != state
            and fits(respond(after, operation.request)[0], operation)
        ):
            return True
    return False
