# SPDX-License-Identifier: Apache-2.0

"""Databases filled with a dataset, and services on them.

Everything is removed at the end: services are stopped, databases dropped.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.datasets.loading import fill
from bench.datasets.rows import Rows
from bench.site.databases import Engine
from bench.site.services import ROOT, TUNED, Deployment, Plimsoll, Reference, Service, running

PREFIX = "plimsoll_bench"


@dataclass(frozen=True, slots=True)
class Site:
    """The engine for the reference, the engine for Plimsoll, and a directory for files."""

    reference: Engine
    ours: Engine
    directory: Path

    @contextlib.contextmanager
    def both(
        self, dataset: str, rows: Rows, *, tuned: bool = False
    ) -> Iterator[tuple[dict[str, Service], Plimsoll]]:
        """Yield the reference by the name of its settings, and Plimsoll, prepared but not started."""
        with (
            _database(self.reference, f"{PREFIX}_{dataset}_reference") as theirs,
            _database(self.ours, f"{PREFIX}_{dataset}") as ours,
        ):
            references: dict[str, Service] = {
                "default": Reference(f"reference-{dataset}", self.directory, theirs)
            }
            if tuned:
                references["tuned"] = Reference(f"reference-tuned-{dataset}", self.directory, theirs, TUNED)
            plimsoll = Plimsoll(f"plimsoll-{dataset}", self.directory, ours)
            with ThreadPoolExecutor() as pool:
                prepared = [pool.submit(_prepare, each, rows) for each in (references["default"], plimsoll)]
            for each in prepared:
                each.result()
            yield references, plimsoll

    @contextlib.contextmanager
    def plimsoll(self, dataset: str, rows: Rows, checkout: Path = ROOT) -> Iterator[Plimsoll]:
        """Yield Plimsoll from the source of a checkout, prepared but not started."""
        with self.database(dataset) as url:
            service = Plimsoll(f"plimsoll-{dataset}", self.directory, url, checkout=checkout)
            _prepare(service, rows)
            yield service

    @contextlib.contextmanager
    def deployment(
        self,
        label: str,
        rows: Rows,
        count: int,
        kind: type[Service] = Plimsoll,
        settings: Mapping[str, str] | None = None,
        *,
        workers: int | None = None,
    ) -> Iterator[Deployment]:
        """Yield running services on one database that has these rows."""
        with self.database(label) as url:
            services = [kind(f"{label}-{number}", self.directory, url, settings) for number in range(count)]
            for service in services:
                service.worker_count = workers or kind.worker_count
            _prepare(services[0], rows)
            with running(*services):
                yield Deployment(services)

    def database(self, name: str) -> contextlib.AbstractContextManager[str]:
        """Create an empty database, yield its URL, and drop it at the end."""
        return _database(self.ours, f"{PREFIX}_{name}")


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
