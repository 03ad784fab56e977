# SPDX-License-Identifier: Apache-2.0

"""Measures works in one world: servers take turns, round by round, so that whatever else the machine does hits all.

The result of a server is the times of all its units over all rounds, and the rate of each round.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.client.driving import Clients, Extent, Round, drive
from bench.client.http import BadAnswer
from bench.site.services import Service

KEPT_SAMPLES = 200
"""How many points of a distribution are kept for the plots."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure. The quick form is for a guard, not for figures."""

    rounds: int = 5
    reference_seconds: float = 1.5
    our_seconds: float = 1.0
    least: int = 2
    is_quick: bool = False

    def extent(self, is_reference: bool) -> Extent:
        if is_reference:
            return Extent(self.reference_seconds, self.least, warm=1)
        return Extent(self.our_seconds, 10 * self.least, warm=20)


FULL = Effort()
QUICK = Effort(rounds=2, reference_seconds=0.8, our_seconds=0.5, least=1, is_quick=True)


@dataclass(slots=True)
class Turn:
    """One server's part in a work."""

    label: str
    service: Service
    clients: Clients
    extent: Extent
    rounds: list[Round] = field(default_factory=list)
    used: float = 0.0
    """What the server used of the processor, in seconds."""
    error: str | None = None
    """Why it could not do the work. The others go on without it."""

    def take(self, count: int) -> None:
        if self.error is not None:
            return
        before = self.service.processor_seconds()
        try:
            self.rounds.append(drive(self.service.port, self.clients, count, self.extent))
        except BadAnswer as error:
            self.error = str(error)
        self.used += self.service.processor_seconds() - before

    def result(self, count: int) -> dict[str, Any]:
        if self.error is not None:
            return {"units": 0, "refused": 0, "error": self.error}
        warm = len(self.rounds) * self.extent.warm * count
        units = warm + sum(len(one.nanoseconds) + one.refused for one in self.rounds)
        return summary(self.rounds) | {"server_ms": _rounded(1000 * self.used / units)}


def alternate(turns: Sequence[Turn], count: int, rounds: int) -> dict[str, dict[str, Any]]:
    """What each server gave, by its label."""
    for number in range(rounds):
        # Who goes first changes, so that nobody always finds the caches as the same other has left them.
        for turn in turns if number % 2 == 0 else reversed(turns):
            turn.take(count)
    return {turn.label: turn.result(count) for turn in turns}


def summary(rounds: Sequence[Round]) -> dict[str, Any]:
    """Figures of a server, fit for JSON: times in milliseconds, rates per second."""
    times = sorted(nanoseconds / 1e6 for one in rounds for nanoseconds in one.nanoseconds)
    if not times:
        return {"units": 0, "refused": sum(one.refused for one in rounds)}
    return {
        "units": len(times),
        "refused": sum(one.refused for one in rounds),
        "median_ms": _rounded(statistics.median(times)),
        "p99_ms": _rounded(quantile(times, 0.99)),
        "rate": _rounded(statistics.median(one.rate for one in rounds)),
        "client_us": _rounded(1e6 * statistics.median(one.client_per_unit for one in rounds)),
        "answer_bytes": rounds[-1].answer_bytes,
        "rounds": [
            {
                "units": len(one.nanoseconds),
                "seconds": _rounded(one.seconds),
                "median_ms": _rounded(statistics.median(one.nanoseconds) / 1e6) if one.nanoseconds else None,
            }
            for one in rounds
        ],
        "samples_ms": [_rounded(time) for time in thinned(times)],
    }


def quantile(times: Sequence[float], share: float) -> float:
    """Of sorted times: the one that so many are not longer than."""
    return times[min(len(times) - 1, int(share * len(times)))]


def thinned(times: Sequence[float]) -> list[float]:
    """Evenly spread over sorted times, the first and the last among them."""
    if len(times) <= KEPT_SAMPLES:
        return list(times)
    step = (len(times) - 1) / (KEPT_SAMPLES - 1)
    return [times[round(number * step)] for number in range(KEPT_SAMPLES)]


def ratio(kind: str, reference: Mapping[str, Any], ours: Mapping[str, Any]) -> float:
    """How many times as fast we are."""
    if kind == "rate":
        return float(ours["rate"]) / float(reference["rate"])
    return float(reference["median_ms"]) / float(ours["median_ms"])


def _rounded(value: float) -> float:
    """Four digits: more than a measurement of this kind is good for."""
    return float(f"{value:.4g}")
