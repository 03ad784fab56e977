# SPDX-License-Identifier: Apache-2.0

"""Judges what was measured: each figure with its goal, and whether it holds.

The quick form is held to floors, a quarter of each goal: noise never reaches them, a lost index does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.measuring.rounds import ratio
from bench.measuring.sidebyside import OURS, READY
from bench.measuring.works import WORKS

CLOSE = 3.0
"""An answer of candidates may take so many times what the same bytes take ready-made."""

QUICK_SHARE = 4.0


@dataclass(frozen=True, slots=True)
class Verdict:
    key: str
    title: str
    beside: str
    """What was measured beside us: the reference and its settings, the ready-made answer, another size."""
    value: float | None
    goal: float | None
    sense: Literal["at least", "at most"]
    unit: str = "x"

    @property
    def holds(self) -> bool:
        if self.goal is None:
            return True
        if self.value is None:
            return False
        return self.value >= self.goal if self.sense == "at least" else self.value <= self.goal

    def to_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "title": self.title,
            "beside": self.beside,
            "value": None if self.value is None else float(f"{self.value:.4g}"),
            "goal": self.goal,
            "sense": self.sense,
            "unit": self.unit,
            "holds": self.holds,
        }


def of_works(measured: Iterable[Mapping[str, Any]], database: str, quick: bool) -> list[Verdict]:
    """Ratios to the reference, then those to the answers sent ready-made."""
    measured = list(measured)
    return [
        *(verdict for done in measured for verdict in _ratios(done, database, quick)),
        *(_closeness(done) for done in measured if READY in done["servers"]),
    ]


def _ratios(done: Mapping[str, Any], database: str, quick: bool) -> Iterable[Verdict]:
    work = next(work for work in WORKS if work.key == done["key"])
    ours = done["servers"][OURS]
    for variant in work.variants:
        theirs = done["servers"].get(f"reference-{variant}")
        if theirs is None:
            continue
        goal = work.goal(variant, database)
        value = ratio(done["kind"], theirs, ours) if theirs["units"] and ours["units"] else None
        beside = "reference" if variant == "default" else "reference, tuned"
        held_to = goal / QUICK_SHARE if goal and quick else goal
        yield Verdict(work.key, work.title, beside, value, held_to, "at least")


def _closeness(done: Mapping[str, Any]) -> Verdict:
    ours, ready = done["servers"][OURS], done["servers"][READY]
    value = ours["median_ms"] / ready["median_ms"] if ours["units"] and ready["units"] else None
    return Verdict(done["key"], done["title"], READY, value, CLOSE, "at most")
