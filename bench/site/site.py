# SPDX-License-Identifier: Apache-2.0

"""A world brought to life: databases filled alike, and the services that are to run on them.

Whatever was made is gone afterwards: services are stopped, databases dropped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.site.databases import Engine
from bench.site.services import ROOT, TUNED, Plimsoll, Reference, Service
from bench.worlds.filling import fill
from bench.worlds.rows import Rows

PREFIX = "plimsoll_bench"


@dataclass(frozen=True, slots=True)
class Site:
    """Where services can be started: the engine for the reference, the engine for us, a directory for files."""

    reference: Engine
    ours: Engine
    directory: Path

    @contextlib.contextmanager
    def both(
        self, world: str, rows: Rows, *, tuned: bool = False
    ) -> Iterator[tuple[dict[str, Service], Plimsoll]]:
        """The reference by the name of its settings, and Plimsoll, ready to be started."""
        with (
            _database(self.reference, f"{PREFIX}_{world}_reference") as theirs,
            _database(self.ours, f"{PREFIX}_{world}") as ours,
        ):
            references: dict[str, Service] = {
                "default": Reference(f"reference-{world}", self.directory, theirs)
            }
            if tuned:
                references["tuned"] = Reference(f"reference-tuned-{world}", self.directory, theirs, TUNED)
            plimsoll = Plimsoll(f"plimsoll-{world}", self.directory, ours)
            with ThreadPoolExecutor() as pool:
                prepared = [pool.submit(_prepare, each, rows) for each in (references["default"], plimsoll)]
            for each in prepared:
                each.result()
            yield references, plimsoll

    @contextlib.contextmanager
    def plimsoll(self, world: str, rows: Rows, checkout: Path = ROOT) -> Iterator[Plimsoll]:
        """Plimsoll alone, ready to be started, with the source of a checkout."""
        with _database(self.ours, f"{PREFIX}_{world}") as url:
            service = Plimsoll(f"plimsoll-{world}", self.directory, url, checkout=checkout)
            _prepare(service, rows)
            yield service


def _prepare(service: Service, rows: Rows) -> None:
    service.sync()
    fill(service.url, rows)


@contextlib.contextmanager
def _database(engine: Engine, name: str) -> Iterator[str]:
    engine.create(name)
    try:
        yield engine.url(name)
    finally:
        engine.drop(name)
