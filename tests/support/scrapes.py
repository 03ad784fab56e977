# SPDX-License-Identifier: Apache-2.0

"""Read the text of `/metrics` with the parser of prometheus-client."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

Series = tuple[str, frozenset[tuple[str, str]]]


class Scrape:
    """The series of one response."""

    def __init__(self, text: str) -> None:
        self.types: dict[str, str] = {}
        self.series: dict[Series, float] = {}
        for family in text_string_to_metric_families(text):
            assert family.name not in self.types, f"{family.name} occurs twice"
            self.types[family.name] = family.type
            for sample in family.samples:
                key = sample.name, frozenset(sample.labels.items())
                assert key not in self.series, f"{key} occurs twice"
                self.series[key] = sample.value

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.series}

    def value(self, name: str, **labels: str) -> float:
        """Return the value of one series."""
        return self.series[name, frozenset(labels.items())]

    def sum(self, name: str, **labels: str) -> float:
        """Return the sum of all series of a name that have these labels."""
        return sum(
            value
            for (each, pairs), value in self.series.items()
            if each == name and frozenset(labels.items()) <= pairs
        )

    def values(self, name: str, label: str) -> Mapping[str, float]:
        """Return the values of a name, by one label."""
        return {dict(pairs)[label]: value for (each, pairs), value in self.series.items() if each == name}


def scrape(port: int, query: str = "") -> Scrape:
    """Scrape a service on this machine, with a new connection: any of its workers responds."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics{query}", timeout=60) as response:
        assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
        return Scrape(response.read().decode())
