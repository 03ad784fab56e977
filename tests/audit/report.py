# SPDX-License-Identifier: Apache-2.0

"""The summary of a run as text."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tests.audit.operations import Completion, Operation
from tests.audit.run import Report

NANO = 10**9


def text(report: Report) -> str:
    lines = [*_by_kind(report.operations), ""]
    by_clients = [each for each in report.operations if each.client.startswith("client")]
    responded = [each for each in by_clients if each.completion is Completion.RESPONDED]
    completions = Counter(each.completion.value for each in by_clients)
    counts = ", ".join(f"{count} {completion}" for completion, count in sorted(completions.items()))
    lines.append(f"{len(by_clients)} requests in {report.seconds:.0f} s: {counts}")
    lines.append(f"{len(responded) / report.seconds:.0f} responses per second")
    lines.append(f"longest pause without a response {_longest_pause(responded):.2f} s")
    lines.append(
        f"longest wait for a response {max((_seconds(each) for each in responded), default=0):.2f} s"
    )
    kills = Counter(event for _, event in report.events if event.endswith("killed"))
    if kills:
        lines.append(", ".join(f"{event} {count} times" for event, count in sorted(kills.items())))
    lines += report.notes
    lines += [f"FINDING {number}: {finding}" for number, finding in enumerate(report.findings, 1)]
    return "\n".join(lines)


def _by_kind(operations: list[Operation]) -> list[str]:
    table: dict[str, Counter[str]] = {}
    for operation in operations:
        outcome = operation.completion.value if operation.status is None else str(operation.status)
        table.setdefault(operation.request.kind, Counter())[outcome] += 1
    return [
        f"{kind:22} " + "  ".join(f"{outcome}: {count}" for outcome, count in sorted(counts.items()))
        for kind, counts in sorted(table.items())
    ]


def _longest_pause(responded: list[Operation]) -> float:
    """Return the longest time, in seconds, in which no client received a response."""
    ends = sorted(each.ended for each in responded)
    return max((after - before for before, after in pairwise(ends)), default=0) / NANO


def _seconds(operation: Operation) -> float:
    return (operation.ended - operation.began) / NANO
