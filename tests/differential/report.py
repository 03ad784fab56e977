# SPDX-License-Identifier: Apache-2.0

"""Text of a run: each difference in full, one line per seed, one summary."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.differential.compare import shown
from tests.differential.known_faults import ALL
from tests.differential.requests import Request
from tests.differential.run import Tally
from tests.differential.servers import Response
from tests.differential.session import Outcome


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of the report."""

    max_differences: int = 20
    wording: bool = False
    minimise: bool = False
    keep: bool = False


def difference(outcome: Outcome, where: str) -> str:
    request = outcome.request
    lines = [
        f"DIFFERENT {where} ({request.kind})" if not outcome.equal else f"WORDING {where} ({request.kind})"
    ]
    lines += [f"> {line}" for line in str(request).splitlines()]
    lines += [f"reference {describe(outcome.reference)}", f"here      {describe(outcome.ours)}"]
    lines += [f"- {line}" for line in (*outcome.verdict.differences, *outcome.verdict.wording)]
    lines += [f"- state: {line}" for line in outcome.state]
    return "\n".join(lines)


def describe(response: Response) -> str:
    return f"{response.status} {shown(response.body.decode(errors='backslashreplace'))}"


def line(tally: Tally) -> str:
    rate = 100 * tally.succeeded // max(1, tally.compared)
    text = (
        f"seed {tally.seed}: {tally.compared} requests, {rate}% of them successful, {tally.different} different, "
        f"{tally.wording.total()} worded differently, {tally.faults.total()} known faults, {tally.seconds:.1f} s"
    )
    return f"{text}\n  {tally.aborted}" if tally.aborted else text


@dataclass(slots=True)
class Summary:
    """Totals of all seeds."""

    compared: int = 0
    different: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    wording: Counter[str] = field(default_factory=Counter)
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)

    def add(self, tally: Tally) -> None:
        self.compared += tally.compared
        self.different += tally.different
        self.faults += tally.faults
        self.wording += tally.wording
        self.statuses += tally.statuses

    @property
    def worded(self) -> int:
        return self.wording.total()

    def text(self, coverage: bool) -> str:
        lines = ["known faults of the reference that occurred:"]
        lines += [f"  {self.faults[fault.name]:6} {fault.name}: {fault.reason}" for fault in ALL]
        if self.wording:
            lines.append("differences of wording only:")
            lines += [f"  {count:6} {kind}" for kind, count in self.wording.most_common()]
        if coverage:
            lines.append("requests by kind and status of the reference:")
            lines += [
                f"  {kind:32} {status} {count:6}" for (kind, status), count in sorted(self.statuses.items())
            ]
        return "\n".join(lines)


def curl_commands(requests: Sequence[Request]) -> str:
    """Return the minimised requests as curl commands."""
    return "\n".join(
        [
            "shortest sequence found that shows this difference:",
            *(request.as_curl("$URL") for request in requests),
        ]
    )
