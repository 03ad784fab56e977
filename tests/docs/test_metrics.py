# SPDX-License-Identifier: Apache-2.0

"""Every metric of `/metrics` is in the guide to monitoring with its kind and its labels, and no other is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from plimsoll import bootstrap
from plimsoll.metrics import DIRECTORY_VARIABLE
from tests.support.api import Api, configuration
from tests.support.scrapes import Scrape

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "monitoring.md"
TABLE = re.compile(r"^\| (counter|histogram|gauge) \| labels \|.*\n\|---.*\n((?:\|.*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)
HOST, AGGREGATE = "11111111-1111-1111-1111-111111111111", "33333333-3333-3333-3333-333333333333"
ALL_GAUGES = {
    "plimsoll__metrics_aggregates": True,
    "plimsoll__metrics_providers": True,
    "plimsoll__shapes": "small=resources=VCPU:1",
}
BUCKET = "le"


def documented() -> dict[str, tuple[str, set[str]]]:
    """Return kind and labels by name."""
    found = {}
    for kind, rows in TABLE.findall(GUIDE.read_text()):
        for name, labels in ROW.findall(rows):
            assert name not in found, f"{name} is in the guide twice"
            found[name] = kind, set(re.findall(r"`(\w+)`", labels))
    return found


@pytest.fixture
def scrape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scrape:
    """The metrics of a service with every optional gauge, after a claim and a search."""
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)
    conf = configuration(tmp_path / "placement.sqlite", **ALL_GAUGES)
    with bootstrap.temporary_application(conf) as application:

        def app(environ: Any, start_response: Any) -> Any:
            environ["REMOTE_ADDR"] = "127.0.0.1"
            return application(environ, start_response)

        api = Api(app, None)  # type: ignore[arg-type]  # this test does not use the database
        api.host(HOST, "host", VCPU=8)
        member = {"aggregates": [AGGREGATE], "resource_provider_generation": 1}
        assert api.put(f"/resource_providers/{HOST}/aggregates", member).status == 200
        for amount in (1, 100):
            assert api.get(f"/allocation_candidates?resources=VCPU:{amount}").status == 200
        return Scrape(api.call("GET", "/metrics?providers=1", version=None).body.decode())


def test_each_metric_is_in_the_guide_and_no_other(scrape: Scrape) -> None:
    families = {f"{name}_total" if kind == "counter" else name: kind for name, kind in scrape.types.items()}
    assert len(families) > 40
    assert {name: kind for name, (kind, _) in documented().items()} == families


def test_the_labels_are_those_in_the_guide(scrape: Scrape) -> None:
    shown: dict[str, set[str]] = {}
    for name, labels in scrape.series:
        family = re.sub(r"_(bucket|count|sum)$", "", name) if name not in scrape.types else name
        shown.setdefault(family, set()).update({label for label, _ in labels} - {BUCKET})
    assert {name: documented()[name][1] for name in shown} == shown
    assert len(shown) > 30
