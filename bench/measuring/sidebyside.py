# SPDX-License-Identifier: Apache-2.0

"""Measure workloads on their datasets: the reference, Plimsoll and, for candidates, the same bytes sent ready-made.

A dataset is created once for all its workloads. Workloads that write come last, as in the list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.client.http import Connection, UnexpectedResponse, request
from bench.client.units import reads
from bench.datasets.rows import Rows
from bench.measuring.rounds import Effort, ServerMeasurement, alternate
from bench.measuring.workloads import BUILDERS, Workload
from bench.site.services import ReadyMade, Service, running
from bench.site.site import Site

Progress = Callable[[str], None]

OURS, READY_MADE = "plimsoll", "ready-made"


def measure_workloads(
    site: Site, works: Iterable[Workload], effort: Effort, progress: Progress
) -> list[dict[str, Any]]:
    """Return the results of each workload for JSON, in the order of the workloads."""
    works = list(works)
    measured: dict[str, dict[str, Any]] = {}
    for dataset in dict.fromkeys(work.dataset for work in works):
        for done in _measure_dataset(
            site, dataset, [work for work in works if work.dataset == dataset], effort, progress
        ):
            measured[done["key"]] = done
    return [measured[work.key] for work in works]


def _measure_dataset(
    site: Site, dataset: str, works: list[Workload], effort: Effort, progress: Progress
) -> Iterable[dict[str, Any]]:
    rows = BUILDERS[dataset]()
    tuned = any("tuned" in work.variants for work in works)
    progress(f"{dataset}: building it, starting services")
    with site.both(dataset, rows, tuned=tuned) as (references, ours), contextlib.ExitStack() as stack:
        stack.enter_context(running(*references.values(), ours))
        ready_made = (
            None
            if effort.is_quick
            else stack.enter_context(_ready_made(site.directory / dataset, works, ours))
        )
        for work in works:
            progress(f"{dataset}: {work.title}")
            measurements = _server_measurements(work, references, ours, ready_made, rows, effort)
            yield {
                "key": work.key,
                "title": work.title,
                "world": work.dataset,
                "kind": work.kind,
                "clients": work.count,
                "servers": alternate(measurements, work.count, effort.rounds),
            }


def _server_measurements(
    work: Workload,
    references: dict[str, Service],
    ours: Service,
    ready_made: Service | None,
    rows: Rows,
    effort: Effort,
) -> list[ServerMeasurement]:
    clients = work.clients(rows)
    theirs = clients if work.reference_clients is None else work.reference_clients(rows)
    measurements = [
        ServerMeasurement(
            f"reference-{variant}", references[variant], theirs, effort.round_length(is_reference=True)
        )
        for variant in work.variants
    ]
    measurements.append(ServerMeasurement(OURS, ours, clients, effort.round_length(is_reference=False)))
    if work.search is not None and ready_made is not None:
        measurements.append(
            ServerMeasurement(
                READY_MADE, ready_made, reads([f"/{work.key}"]), effort.round_length(is_reference=False)
            )
        )
    return measurements


@contextlib.contextmanager
def _ready_made(directory: Path, works: Iterable[Workload], ours: Service) -> Iterator[Service]:
    """Run a server that sends our response to each search of these workloads from memory."""
    directory.mkdir(parents=True, exist_ok=True)
    for work in works:
        if work.search is not None:
            (directory / work.key).write_bytes(response_body(ours, work.search))
    server = ReadyMade(directory.with_name(f"{directory.name}-server"), directory)
    with running(server):
        yield server


def response_body(service: Service, target: str) -> bytes:
    connection = Connection(service.port)
    try:
        response = connection.call(request("GET", target))
        if response.status != 200:
            raise UnexpectedResponse(f"{target}: {response.status} {bytes(response.body[:500])!r}")
        return bytes(response.body)
    finally:
        connection.close()
