# SPDX-License-Identifier: Apache-2.0

"""Compare each measured figure with its goal.

The quick form uses a quarter of each goal: noise does not cause a failure, a lost index does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.measuring.rounds import ratio
from bench.measuring.sidebyside import OURS, READY_MADE
from bench.measuring.workloads import WORKLOADS

MAX_TIMES_READY_MADE = 3.5
"""Maximum time of a candidates response, in multiples of the time for the same bytes sent ready-made."""

QUICK_SHARE = 4.0


@dataclass(frozen=True, slots=True)
class Verdict:
    key: str
    title: str
    compared_with: str
    """The compared side: the reference and its settings, the ready-made response, or another size."""
    value: float | None
    goal: float | None
    bound: Literal["at least", "at most"]
    unit: str = "x"

    @property
    def holds(self) -> bool:
        if self.goal is None:
            return True
        if self.value is None:
            return False
        return self.value >= self.goal if self.bound == "at least" else self.value <= self.goal

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "title": self.title,
            "beside": self.compared_with,
            "value": None if self.value is None else float(f"{self.value:.4g}"),
            "goal": self.goal,
            "sense": self.bound,
            "unit": self.unit,
            "holds": self.holds,
        }


def judge_workloads(measured: Iterable[Mapping[str, Any]], database: str, quick: bool) -> list[Verdict]:
    """Return the ratios to the reference, then those to the ready-made responses."""
    measured = list(measured)
    return [
        *(verdict for done in measured for verdict in _ratios(done, database, quick)),
        *(_compare_with_ready_made(done) for done in measured if READY_MADE in done["servers"]),
    ]


def _ratios(done: Mapping[str, Any], database: str, quick: bool) -> Iterable[Verdict]:
    work = next(work for work in WORKLOADS if work.key == done["key"])
    ours = done["servers"][OURS]
    for variant in work.variants:
        theirs = done["servers"].get(f"reference-{variant}")
        if theirs is None:
            continue
        goal = work.goal(variant, database)
        value = ratio(done["kind"], theirs, ours) if theirs["units"] and ours["units"] else None
        compared_with = "reference" if variant == "default" else "reference, tuned"
        effective_goal = goal / QUICK_SHARE if goal and quick else goal
        yield Verdict(work.key, work.title, compared_with, value, effective_goal, "at least")


def _compare_with_ready_made(done: Mapping[str, Any]) -> Verdict:
    ours, ready_made = done["servers"][OURS], done["servers"][READY_MADE]
    value = ours["median_ms"] / ready_made["median_ms"] if ours["units"] and ready_made["units"] else None
    return Verdict(done["key"], done["title"], READY_MADE, value, MAX_TIMES_READY_MADE, "at most")
