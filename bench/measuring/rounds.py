# SPDX-License-Identifier: Apache-2.0

"""Measure workloads on one dataset: servers alternate round by round, so that other load affects all of them.

The result of a server is the times of all its units over all rounds, and the rate of each round.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.client.driving import Clients, Round, RoundLength, drive
from bench.client.http import UnexpectedResponse
from bench.site.services import Deployment, Service

MAX_SAMPLES = 200
"""Number of points of a distribution that are stored for the plots."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure. The quick form is for a regression check, not for published figures."""

    rounds: int = 5
    reference_seconds: float = 1.5
    our_seconds: float = 1.0
    min_units: int = 2
    is_quick: bool = False

    def round_length(self, is_reference: bool) -> RoundLength:
        if is_reference:
            return RoundLength(self.reference_seconds, self.min_units, warmup_units=1)
        return RoundLength(self.our_seconds, 10 * self.min_units, warmup_units=20)


FULL = Effort()
QUICK = Effort(rounds=2, reference_seconds=0.8, our_seconds=0.5, min_units=1, is_quick=True)


@dataclass(slots=True)
class ServerMeasurement:
    """The rounds of one server for one workload."""

    label: str
    service: Service | Deployment
    clients: Clients
    round_length: RoundLength
    rounds: list[Round] = field(default_factory=list)
    used: float = 0.0
    """Processor time of the server, in seconds."""
    error: str | None = None
    """Why the workload failed on this server. The other servers continue."""

    def run_round(self, count: int) -> None:
        if self.error is not None:
            return
        before = self.service.processor_seconds()
        try:
            self.rounds.append(drive(self.service.ports, self.clients, count, self.round_length))
        except UnexpectedResponse as error:
            self.error = str(error)
        self.used += self.service.processor_seconds() - before

    def result(self, count: int) -> dict[str, Any]:
        if self.error is not None:
            return {"units": 0, "refused": 0, "error": self.error}
        warmup_units = len(self.rounds) * self.round_length.warmup_units * count
        units = warmup_units + sum(len(one.nanoseconds) + one.refused for one in self.rounds)
        return summary(self.rounds) | {"server_ms": _rounded(1000 * self.used / units)}


def alternate(
    measurements: Sequence[ServerMeasurement], count: int, rounds: int
) -> dict[str, dict[str, Any]]:
    """Run the rounds of all servers alternately and return the results by label."""
    for number in range(rounds):
        # The order changes each round, so that no server always runs after the same other one (CPU caches).
        for measurement in measurements if number % 2 == 0 else reversed(measurements):
            measurement.run_round(count)
    return {measurement.label: measurement.result(count) for measurement in measurements}


def rate_ratios(work: str, one: ServerMeasurement, other: ServerMeasurement) -> list[float]:
    """Return the ratios of the rates of two servers, round by round. Raise if the work failed on one of them."""
    for measurement in (one, other):
        if measurement.error is not None:
            raise RuntimeError(f"{work}: {measurement.label}: {measurement.error}")
    return [first.rate / second.rate for first, second in zip(one.rounds, other.rounds, strict=True)]


def summary(rounds: Sequence[Round]) -> dict[str, Any]:
    """Return the figures of a server for JSON: times in milliseconds, rates per second."""
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
        "samples_ms": [_rounded(time) for time in thin_out(times)],
    }


def quantile(times: Sequence[float], share: float) -> float:
    """Return the quantile of sorted times."""
    return times[min(len(times) - 1, int(share * len(times)))]


def thin_out(times: Sequence[float]) -> list[float]:
    """Return at most 200 of the sorted times, evenly spread, including the first and the last."""
    if len(times) <= MAX_SAMPLES:
        return list(times)
    step = (len(times) - 1) / (MAX_SAMPLES - 1)
    return [times[round(number * step)] for number in range(MAX_SAMPLES)]


def ratio(kind: str, reference: Mapping[str, Any], ours: Mapping[str, Any]) -> float:
    """Return how many times as fast as the reference we are."""
    if kind == "rate":
        return float(ours["rate"]) / float(reference["rate"])
    return float(reference["median_ms"]) / float(ours["median_ms"])


def _rounded(value: float) -> float:
    """Round to four digits, more than the precision of the measurement."""
    return float(f"{value:.4g}")
