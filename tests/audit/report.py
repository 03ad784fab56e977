# SPDX-License-Identifier: Apache-2.0

"""The summary of a run, as people read it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tests.audit.operations import Fate, Operation
from tests.audit.run import Report

NANO = 10**9


def text(report: Report) -> str:
    lines = [*_by_kind(report.operations), ""]
    at_work = [each for each in report.operations if each.client.startswith("client")]
    answered = [each for each in at_work if each.fate is Fate.ANSWERED]
    fates = Counter(each.fate.value for each in at_work)
    told = ", ".join(f"{count} {fate}" for fate, count in sorted(fates.items()))
    lines.append(f"{len(at_work)} requests in {report.seconds:.0f} s: {told}")
    lines.append(f"{len(answered) / report.seconds:.0f} answers per second")
    lines.append(f"longest pause without an answer {_longest_pause(answered):.2f} s")
    lines.append(f"longest wait for an answer {max((_took(each) for each in answered), default=0):.2f} s")
    kills = Counter(what for _, what in report.events if what.endswith("killed"))
    if kills:
        lines.append(", ".join(f"{what} {count} times" for what, count in sorted(kills.items())))
    lines += report.notes
    lines += [f"FINDING {number}: {finding}" for number, finding in enumerate(report.findings, 1)]
    return "\n".join(lines)


def _by_kind(operations: list[Operation]) -> list[str]:
    table: dict[str, Counter[str]] = {}
    for operation in operations:
        said = operation.fate.value if operation.status is None else str(operation.status)
        table.setdefault(operation.request.kind, Counter())[said] += 1
    return [
        f"{kind:22} " + "  ".join(f"{said}: {count}" for said, count in sorted(counts.items()))
        for kind, counts in sorted(table.items())
    ]


def _longest_pause(answered: list[Operation]) -> float:
    """The longest time in which no client got an answer."""
    ends = sorted(each.ended for each in answered)
    return max((after - before for before, after in pairwise(ends)), default=0) / NANO


def _took(operation: Operation) -> float:
    return (operation.ended - operation.began) / NANO
