# SPDX-License-Identifier: Apache-2.0

"""Runs works in their worlds: the reference, Plimsoll and, for candidates, the same answer sent ready-made.

A world is built once for all works in it. Works that write come last in their world, as the list has them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bench.client.driving import Clients
from bench.client.http import BadAnswer, Connection, request
from bench.client.units import reads
from bench.measuring.rounds import Effort, Turn, alternate
from bench.measuring.works import BUILDERS, Work
from bench.site.services import ReadyMade, Service, running
from bench.site.site import Site

Progress = Callable[[str], None]

OURS, READY = "plimsoll", "ready-made"


def measure_works(
    site: Site, works: Iterable[Work], effort: Effort, progress: Progress
) -> list[dict[str, Any]]:
    """What was measured of each work, fit for JSON, in the order of the works."""
    works = list(works)
    measured: dict[str, dict[str, Any]] = {}
    for world in dict.fromkeys(work.world for work in works):
        for done in _in_world(site, world, [work for work in works if work.world == world], effort, progress):
            measured[done["key"]] = done
    return [measured[work.key] for work in works]


def _in_world(
    site: Site, world: str, works: list[Work], effort: Effort, progress: Progress
) -> Iterable[dict[str, Any]]:
    rows = BUILDERS[world]()
    tuned = any("tuned" in work.variants for work in works)
    progress(f"{world}: building it, starting services")
    with site.both(world, rows, tuned=tuned) as (references, ours), contextlib.ExitStack() as stack:
        stack.enter_context(running(*references.values(), ours))
        ready = (
            None if effort.is_quick else stack.enter_context(_ready_made(site.directory / world, works, ours))
        )
        for work in works:
            progress(f"{world}: {work.title}")
            turns = _turns(work, references, ours, ready, work.clients(rows), effort)
            yield {
                "key": work.key,
                "title": work.title,
                "world": work.world,
                "kind": work.kind,
                "clients": work.count,
                "servers": alternate(turns, work.count, effort.rounds),
            }


def _turns(
    work: Work,
    references: dict[str, Service],
    ours: Service,
    ready: Service | None,
    clients: Clients,
    effort: Effort,
) -> list[Turn]:
    turns = [
        Turn(f"reference-{variant}", references[variant], clients, effort.extent(is_reference=True))
        for variant in work.variants
    ]
    turns.append(Turn(OURS, ours, clients, effort.extent(is_reference=False)))
    if work.search is not None and ready is not None:
        turns.append(Turn(READY, ready, reads([f"/{work.key}"]), effort.extent(is_reference=False)))
    return turns


@contextlib.contextmanager
def _ready_made(directory: Path, works: Iterable[Work], ours: Service) -> Iterator[Service]:
    """A server that has our answer to each search among these works."""
    directory.mkdir(parents=True, exist_ok=True)
    for work in works:
        if work.search is not None:
            (directory / work.key).write_bytes(answer(ours, work.search))
    server = ReadyMade(directory.with_name(f"{directory.name}-server"), directory)
    with running(server):
        yield server


def answer(service: Service, target: str) -> bytes:
    connection = Connection(service.port)
    try:
        reply = connection.call(request("GET", target))
        if reply.status != 200:
            raise BadAnswer(f"{target}: {reply.status} {bytes(reply.body[:500])!r}")
        return bytes(reply.body)
    finally:
        connection.close()
