# SPDX-License-Identifier: Apache-2.0

"""The verdict on a history: every finding, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.audit import rows
from tests.audit.findings import Finding
from tests.audit.model import EMPTY, World
from tests.audit.operations import Operation
from tests.audit.search import Search, Undecided

SHOWN = 20


def audit(
    operations: Sequence[Operation],
    final: rows.Rows | None,
    notes: list[str] | None = None,
    tell: Callable[[str], None] = lambda _: None,
    start: World = EMPTY,
) -> list[Finding]:
    """Whether an order explains all answers, and whether SQL is where that order leads."""
    found = [Finding(f"{what}: {each}") for each in operations for what in _misbehaviour(each)]
    search = Search(operations, start)
    try:
        outcome = search.run(
            lambda done, all_: tell(f"audited {done} of {all_}") if done % 10_000 == 0 else None
        )
    except Undecided as undecided:
        return [*found, Finding(f"the auditor cannot decide: {undecided}")]
    found += outcome.findings
    if notes is not None:
        notes.append(f"the auditor held {outcome.most} possibilities at most")
    if (
        final is not None
        and outcome.worlds
        and not any(search.reachable(lambda world: not any(rows.differences(world, final))))
    ):
        nearest = min((list(rows.differences(world, final)) for world in outcome.worlds), key=len)
        found.append(Finding("SQL is not what the answers say", nearest[:SHOWN]))
    return found


def _misbehaviour(operation: Operation) -> Iterator[str]:
    """What no answer may be, whatever the state is."""
    if operation.status == 503:
        if operation.retry_after is None or "detail" not in operation.error:
            yield "a 503 that does not say when to come back, or why"
    elif operation.status is not None and operation.status >= 500:
        yield "an error of the service"
