# SPDX-License-Identifier: Apache-2.0

"""Growth of Plimsoll with the cloud: search, claim and memory of a worker, from 1,000 to 100,000 providers.

Services of all sizes run at the same time and alternate, because a claim at one size is compared with the others.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from bench.client.driving import RoundLength, drive
from bench.client.units import claims, searches
from bench.datasets import shapes
from bench.datasets.rows import Rows
from bench.measuring.rounds import Effort, ServerMeasurement, alternate, summary
from bench.measuring.sidebyside import Progress
from bench.measuring.verdicts import Verdict
from bench.measuring.workloads import FLAT, with_varying_amount
from bench.site.services import Plimsoll, running
from bench.site.site import Site

SIZES = (1_000, 10_000, 100_000)
REFERENCE_UP_TO = 10_000
"""At this size a response of the reference takes seconds; larger sizes are not measured."""

SEARCH = searches(with_varying_amount(f"{FLAT}&limit=1000"))
MEGABYTE = 1_000_000

MAX_SEARCH_MILLISECONDS = 10.0
MAX_MEGABYTES = {10_000: 150.0, 100_000: 600.0}
MAX_CLAIM_GROWTH = 1.2
MAX_MEMORY_GROWTH = 1.05
"""Memory must not grow with allocations: 5 % is allowed for noise."""

ALLOCATED_PROVIDERS, ALLOCATIONS_EACH = 10_000, 10


def measure_growth(site: Site, effort: Effort, progress: Progress, sizes: Sequence[int]) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        services_by_size: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]] = {}
        for size in sizes:
            progress(f"growth: building {size:,} providers, starting a service on them")
            rows = shapes.flat(size)
            service = stack.enter_context(site.plimsoll(f"growth_{size}", rows))
            stack.enter_context(running(service))
            services_by_size[size] = service, rows, {"providers": size, "start_s": _restart_seconds(service)}
        progress("growth: searches")
        _searches(services_by_size, effort)
        progress("growth: claims")
        _claims(services_by_size, effort)
        found = [figures for _, _, figures in services_by_size.values()]
    for figures in found:
        if figures["providers"] <= REFERENCE_UP_TO:
            progress(f"growth: the reference at {figures['providers']:,} providers")
            figures["reference"] = _reference(site, figures["providers"], effort)
    progress("growth: memory with allocations")
    return {"sizes": found, "held": _memory_with_allocations(site) if ALLOCATED_PROVIDERS in sizes else None}


def _restart_seconds(service: Plimsoll) -> float:
    """Restart the service and return the seconds until the first response, without one-time work of the first start."""
    service.stop()
    start_time = time.perf_counter()
    service.start()
    return round(time.perf_counter() - start_time, 2)


def _searches(services_by_size: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]], effort: Effort) -> None:
    measurements = [
        ServerMeasurement(str(size), service, SEARCH, effort.round_length(is_reference=False))
        for size, (service, _, _) in services_by_size.items()
    ]
    taken = alternate(measurements, 1, effort.rounds)
    for size, (service, _, figures) in services_by_size.items():
        figures["search"] = taken[str(size)]
        figures["memory_mb"] = round(service.memory() / MEGABYTE, 1)


def _claims(services_by_size: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]], effort: Effort) -> None:
    measurements = [
        ServerMeasurement(str(size), service, claims(rows), effort.round_length(is_reference=False))
        for size, (service, rows, _) in services_by_size.items()
    ]
    taken = alternate(measurements, 1, effort.rounds)
    for size, (service, _, figures) in services_by_size.items():
        figures["claim"] = taken[str(size)]
        figures["memory_after_claims_mb"] = round(service.memory() / MEGABYTE, 1)


def _reference(site: Site, size: int, effort: Effort) -> dict[str, Any]:
    rows = shapes.flat(size)
    with site.both(f"growth_{size}", rows) as (references, _), running(references["default"]):
        round_length = effort.round_length(is_reference=True)
        ports = references["default"].ports
        return summary([drive(ports, SEARCH, 1, round_length) for _ in range(effort.rounds)])


def _memory_with_allocations(site: Site) -> dict[str, Any]:
    """Return the memory of a worker with allocations in the database."""
    rows = shapes.with_allocations(ALLOCATED_PROVIDERS, ALLOCATIONS_EACH)
    with site.plimsoll("growth_held", rows) as service, running(service):
        _restart_seconds(service)
        drive(service.ports, SEARCH, 1, RoundLength(1.0, min_units=50))
        return {
            "providers": ALLOCATED_PROVIDERS,
            "allocations": len(rows.tables["allocations"]),
            "memory_mb": round(service.memory() / MEGABYTE, 1),
        }


def judge_growth(growth: dict[str, Any]) -> list[Verdict]:
    sizes = {figures["providers"]: figures for figures in growth["sizes"]}
    first, last = sizes[min(sizes)], sizes[max(sizes)]
    name = f"{max(sizes):,} providers"
    verdicts = [
        _limit(
            f"a search with limit=1000 at {name}", last["search"]["median_ms"], MAX_SEARCH_MILLISECONDS, "ms"
        ),
        _limit(
            f"a claim at {name}, to one at {min(sizes):,}",
            last["claim"]["median_ms"] / first["claim"]["median_ms"],
            MAX_CLAIM_GROWTH,
            "x",
        ),
    ]
    for size, most in MAX_MEGABYTES.items():
        if size in sizes:
            verdicts.append(
                _limit(f"memory of a worker at {size:,} providers", sizes[size]["memory_mb"], most, "MB")
            )
    with_allocations = growth["held"]
    if with_allocations is not None:
        value = with_allocations["memory_mb"] / sizes[with_allocations["providers"]]["memory_mb"]
        title = f"memory of a worker with {with_allocations['allocations']:,} allocations, to one with none"
        verdicts.append(_limit(title, value, MAX_MEMORY_GROWTH, "x"))
    return verdicts


def _limit(title: str, value: float, most: float, unit: str) -> Verdict:
    return Verdict("growth", title, "growth", value, most, "at most", unit)
