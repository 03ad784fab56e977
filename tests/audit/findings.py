# SPDX-License-Identifier: Apache-2.0

"""What must not be, in words that help to find out why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from tests.audit.meetings import ALL_NAMES, reach
from tests.audit.model import World, fits, respond
from tests.audit.operations import Operation

SHOWN_WORLDS = 3
SHOWN_PAST = 8
SUSPECTED = 300
"""So many operations of the past are suspected of having happened twice."""


@dataclass
class Finding:
    """Something that must not be, with what led to it."""

    what: str
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n    ".join([self.what, *self.lines])


def testimony(
    operation: Operation,
    worlds: Sequence[World],
    beside: Sequence[Operation],
    past: Sequence[Operation],
    unwritten: Iterable[Operation],
) -> Finding:
    """An operation that nothing explains: what the model expected, what else went on, and whom we suspect."""
    lines = [f"expected: {respond(world, operation.request)[0]}" for world in worlds[:SHOWN_WORLDS]]
    if len(worlds) > SHOWN_WORLDS:
        lines.append(f"and {len(worlds) - SHOWN_WORLDS} more possibilities")
    lines.extend(f"at the same time: {other}" for other in beside)
    related = _related(operation, worlds[0], past)
    lines.extend(f"before: {other}" for other in reversed(list(islice(related, SHOWN_PAST))))
    lines.extend(_suspicions(operation, worlds, past, unwritten))
    return Finding(f"no order explains {operation}", lines)


def _related(operation: Operation, world: World, past: Sequence[Operation]) -> Iterator[Operation]:
    """Writes that touched the same things, the last one first."""
    its = _touched(operation, world)
    for other in reversed(past):
        if not other.changes_nothing and not its.isdisjoint(_touched(other, world)):
            yield other


def _touched(operation: Operation, world: World) -> frozenset[str]:
    """The providers and consumers in it, or the names if it is about these."""
    its = reach(operation, world, ())
    touched = its.reads | its.writes
    return touched - ALL_NAMES or touched


def _suspicions(
    operation: Operation, worlds: Sequence[World], past: Sequence[Operation], unwritten: Iterable[Operation]
) -> Iterator[str]:
    """One more write that would explain it."""
    for other in unwritten:
        if other.began < operation.ended and _would_explain(other, operation, worlds):
            yield f"EXPLAINED IF this was written after all: {other}"
    for other in islice(_related(operation, worlds[0], past), SUSPECTED):
        if _would_explain(other, operation, worlds):
            yield f"EXPLAINED IF this was written twice: {other}"


def _would_explain(suspect: Operation, operation: Operation, worlds: Sequence[World]) -> bool:
    for world in worlds[:SHOWN_WORLDS]:
        said, after = respond(world, suspect.request)
        if not said.is_refusal and after != world and fits(respond(after, operation.request)[0], operation):
            return True
    return False
