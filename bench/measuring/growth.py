# SPDX-License-Identifier: Apache-2.0

"""How Plimsoll grows with the cloud: a search, a claim and the memory of a worker, from 1,000 providers to 100,000.

Services of all sizes run at the same time and take turns, because a claim at one size is judged by the other.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from bench.client.driving import Extent, drive
from bench.client.units import claims, searches
from bench.measuring.rounds import Effort, Turn, alternate, summary
from bench.measuring.sidebyside import Progress
from bench.measuring.verdicts import Verdict
from bench.measuring.works import FLAT, never_the_same
from bench.site.services import Plimsoll, running
from bench.site.site import Site
from bench.worlds import shapes
from bench.worlds.rows import Rows

SIZES = (1_000, 10_000, 100_000)
REFERENCE_UP_TO = 10_000
"""There an answer takes it seconds; a world ten times as large is not tried."""

SEARCH = searches(never_the_same(f"{FLAT}&limit=1000"))
MEGABYTE = 1_000_000

MOST_MILLISECONDS = 10.0
MOST_MEGABYTES = {10_000: 150.0, 100_000: 600.0}
MOST_CLAIM_GROWTH = 1.2
MOST_MEMORY_GROWTH = 1.05
"""What counts as no growth with allocations: a twentieth is left to chance."""

HELD_PROVIDERS, HELD_EACH = 10_000, 10


def measure_growth(site: Site, effort: Effort, progress: Progress, sizes: Sequence[int]) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        alive: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]] = {}
        for size in sizes:
            progress(f"growth: building {size:,} providers, starting a service on them")
            rows = shapes.flat(size)
            service = stack.enter_context(site.plimsoll(f"growth_{size}", rows))
            stack.enter_context(running(service))
            alive[size] = service, rows, {"providers": size, "start_s": _start_again(service)}
        progress("growth: searches")
        _searches(alive, effort)
        progress("growth: claims")
        _claims(alive, effort)
        found = [figures for _, _, figures in alive.values()]
    for figures in found:
        if figures["providers"] <= REFERENCE_UP_TO:
            progress(f"growth: the reference at {figures['providers']:,} providers")
            figures["reference"] = _reference(site, figures["providers"], effort)
    progress("growth: memory with allocations")
    return {"sizes": found, "held": _held(site) if HELD_PROVIDERS in sizes else None}


def _start_again(service: Plimsoll) -> float:
    """Seconds from the command to the first answer; the first start of all did what is done once."""
    service.stop()
    begun = time.perf_counter()
    service.start()
    return round(time.perf_counter() - begun, 2)


def _searches(alive: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]], effort: Effort) -> None:
    turns = [
        Turn(str(size), service, SEARCH, effort.extent(is_reference=False))
        for size, (service, _, _) in alive.items()
    ]
    taken = alternate(turns, 1, effort.rounds)
    for size, (service, _, figures) in alive.items():
        figures["search"] = taken[str(size)]
        figures["memory_mb"] = round(service.memory() / MEGABYTE, 1)


def _claims(alive: dict[int, tuple[Plimsoll, Rows, dict[str, Any]]], effort: Effort) -> None:
    turns = [
        Turn(str(size), service, claims(rows), effort.extent(is_reference=False))
        for size, (service, rows, _) in alive.items()
    ]
    taken = alternate(turns, 1, effort.rounds)
    for size, (service, _, figures) in alive.items():
        figures["claim"] = taken[str(size)]
        figures["memory_after_claims_mb"] = round(service.memory() / MEGABYTE, 1)


def _reference(site: Site, size: int, effort: Effort) -> dict[str, Any]:
    rows = shapes.flat(size)
    with site.both(f"growth_{size}", rows) as (references, _), running(references["default"]):
        extent = effort.extent(is_reference=True)
        port = references["default"].port
        return summary([drive(port, SEARCH, 1, extent) for _ in range(effort.rounds)])


def _held(site: Site) -> dict[str, Any]:
    """The memory of a worker with allocations in the database."""
    rows = shapes.held(HELD_PROVIDERS, HELD_EACH)
    with site.plimsoll("growth_held", rows) as service, running(service):
        _start_again(service)
        drive(service.port, SEARCH, 1, Extent(1.0, least=50))
        return {
            "providers": HELD_PROVIDERS,
            "allocations": len(rows.tables["allocations"]),
            "memory_mb": round(service.memory() / MEGABYTE, 1),
        }


def of_growth(growth: dict[str, Any]) -> list[Verdict]:
    sizes = {figures["providers"]: figures for figures in growth["sizes"]}
    first, last = sizes[min(sizes)], sizes[max(sizes)]
    name = f"{max(sizes):,} providers"
    verdicts = [
        _at_most(f"a search with limit=1000 at {name}", last["search"]["median_ms"], MOST_MILLISECONDS, "ms"),
        _at_most(
            f"a claim at {name}, to one at {min(sizes):,}",
            last["claim"]["median_ms"] / first["claim"]["median_ms"],
            MOST_CLAIM_GROWTH,
            "x",
        ),
    ]
    for size, most in MOST_MEGABYTES.items():
        if size in sizes:
            verdicts.append(
                _at_most(f"memory of a worker at {size:,} providers", sizes[size]["memory_mb"], most, "MB")
            )
    held = growth["held"]
    if held is not None:
        value = held["memory_mb"] / sizes[held["providers"]]["memory_mb"]
        title = f"memory of a worker with {held['allocations']:,} allocations, to one with none"
        verdicts.append(_at_most(title, value, MOST_MEMORY_GROWTH, "x"))
    return verdicts


def _at_most(title: str, value: float, most: float, unit: str) -> Verdict:
    return Verdict("growth", title, "growth", value, most, "at most", unit)
