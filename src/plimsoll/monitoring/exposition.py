# SPDX-License-Identifier: Apache-2.0

"""The text form of metrics, family by family, within a budget of series.

The samples of a gauge are made one by one while the text is written: they are never all in memory, and other requests
run in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import cast

from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Row = tuple[Sequence[str], float]
"""The values of the labels, and the value."""


class Exposition:
    """The text of one scrape. Series beyond the budget are counted and left out."""

    def __init__(self, budget: int, pause: Callable[[], object]) -> None:
        self._pause = pause
        self._left = budget - 1  # one series is the number of series left out
        self._omitted = 0
        self.texts: list[bytes] = []
        """The text of each family."""

    def add(self, families: Iterable[Metric]) -> None:
        """Add counters and histograms. Their labels have fixed sets of values, so they are within the budget."""
        for family in families:
            self._left -= len(family.samples)
            self._write(family, self._with_pauses(family.samples))

    def add_gauge(
        self, name: str, description: str, labels: Sequence[str] = (), rows: Iterable[Row] = ()
    ) -> None:
        """Add a gauge; a family without rows is left out."""
        family = Metric(name, description, "gauge")
        samples = self._within_budget(name, labels, rows)
        first = next(samples, None)
        if first is not None:
            self._write(family, chain((first,), samples))

    def close(self) -> int:
        """Return how many series were left out. One more series may be added after this."""
        self._left = 1
        return self._omitted

    def _within_budget(self, name: str, labels: Sequence[str], rows: Iterable[Row]) -> Iterator[Sample]:
        for values, value in rows:
            self._pause()
            if self._left <= 0:
                self._omitted += 1
                continue
            self._left -= 1
            yield Sample(name, dict(zip(labels, values, strict=True)), value)

    def _with_pauses(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        for sample in samples:
            self._pause()
            yield sample

    def _write(self, family: Metric, samples: Iterable[Sample]) -> None:
        family.samples = cast("list[Sample]", samples)  # the library iterates over them, once
        self.texts.append(generate_latest(cast(Collector, _Single(family))))


class _Single:
    """A collector of one family."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterable[Metric]:
        return (self._family,)
