# SPDX-License-Identifier: Apache-2.0

"""Audit a history and return all findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.audit import rows
from tests.audit.findings import Finding
from tests.audit.model import EMPTY, State
from tests.audit.operations import Operation
from tests.audit.search import Search, Undecided

MAX_SHOWN = 20


def audit(
    operations: Sequence[Operation],
    final: rows.Rows | None,
    notes: list[str] | None = None,
    log: Callable[[str], None] = lambda _: None,
    start: State = EMPTY,
) -> list[Finding]:
    """Check that one order of the operations explains all responses and the final rows in SQL."""
    found = [Finding(f"{problem}: {each}") for each in operations for problem in _invalid_responses(each)]
    search = Search(operations, start)
    try:
        outcome = search.run(
            lambda done, all_: log(f"audited {done} of {all_}") if done % 10_000 == 0 else None
        )
    except Undecided as undecided:
        return [*found, Finding(f"the auditor cannot decide: {undecided}")]
    found += outcome.findings
    if notes is not None:
        notes.append(f"the auditor held {outcome.max_count} possibilities at most")
    if (
        final is not None
        and outcome.states
        and not any(search.reachable(lambda state: not any(rows.differences(state, final))))
    ):
        nearest = min((list(rows.differences(state, final)) for state in outcome.states), key=len)
        found.append(Finding("SQL differs from what the responses show", nearest[:MAX_SHOWN]))
    return found


def _invalid_responses(operation: Operation) -> Iterator[str]:
    """Yield why this response is wrong in any state."""
    if operation.status == 503:
        if operation.retry_after is None or "detail" not in operation.error:
            yield "a 503 without Retry-After or without a detail"
    elif operation.status is not None and operation.status >= 500:
        yield "an internal error of the service"
