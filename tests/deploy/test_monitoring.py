# SPDX-License-Identifier: Apache-2.0

"""deploy/prometheus and deploy/grafana: promtool accepts every expression, and each metric in them exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from tests.processes.test_many_workers import claim, create_host
from tests.support.running import Service
from tests.support.scrapes import Scrape, scrape
from tests.support.servers.places import free_port
from tests.support.waiting import eventually

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "plimsoll.rules.yml"
CONFIG = ROOT / "deploy" / "prometheus" / "prometheus.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "plimsoll.json"
GUIDE = ROOT / "docs" / "guides" / "monitoring.md"

METRIC = re.compile(r"\b(?:plimsoll|openstack_placement)_\w+")
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}
"""The variables of Grafana in expressions, with a value for each."""

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="not run: promtool is not installed (Debian: prometheus)"
)


def promtool(*arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["promtool", *arguments], input=text, capture_output=True, text=True, check=False, timeout=60
    )


def assert_accepted(*arguments: str | Path) -> None:
    done = promtool(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr


def alerts() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    return rules


def panels() -> list[dict[str, Any]]:
    found = json.loads(DASHBOARD.read_text())["panels"]
    return [panel for panel in found if panel["type"] != "row"]


def dashboard_expressions() -> list[str]:
    expressions = [target["expr"] for panel in panels() for target in panel["targets"]]
    for name, value in VARIABLES.items():
        expressions = [expression.replace(name, value) for expression in expressions]
    return expressions


class Prometheus:
    """A Prometheus that scrapes one service each second, as the job `plimsoll` of the example."""

    def __init__(self, directory: Path, port: int) -> None:
        self._port = free_port()
        job = yaml.safe_load(CONFIG.read_text())["scrape_configs"][0]
        job |= {"scrape_interval": "1s", "scrape_timeout": "1s", "params": {"providers": ["1"]}}
        job["static_configs"] = [{"targets": [f"127.0.0.1:{port}"]}]
        file = directory / "prometheus.yml"
        file.write_text(yaml.safe_dump({"scrape_configs": [job]}))
        self._command = [
            "prometheus",
            f"--config.file={file}",
            f"--storage.tsdb.path={directory / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]
        self._log = directory / "log"

    def query(self, expression: str) -> list[Any]:
        """Return the series of an instant query; none while Prometheus does not respond yet."""
        query = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/query?{query}") as response:
                found: list[Any] = json.load(response)["data"]["result"]
                return found
        except urllib.error.HTTPError as refused:
            with refused:
                assert refused.code == 503, refused.read()
            return []
        except OSError:
            return []

    def __enter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)


class AggregatesService(Service):
    """A service that shows aggregates and providers, and verifies its memory often."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {
            "OS_PLIMSOLL__METRICS_AGGREGATES": "true",
            "OS_PLIMSOLL__METRICS_PROVIDERS": "true",
            "OS_PLIMSOLL__VERIFY_INTERVAL": "1",
            "OS_PLIMSOLL__SHAPES": "small=resources=VCPU:1",
        }


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AggregatesService]:
    """A service with two workers after claims, conflicts, searches and writes of both workers."""
    with AggregatesService(tmp_path_factory.mktemp("monitored"), workers=2) as service:
        host = create_host(service.client(), 100)
        aggregates = {
            "aggregates": ["33333333-3333-3333-3333-333333333333"],
            "resource_provider_generation": 1,
        }
        for _ in range(8):
            client = service.client()
            client.call("PUT", f"/resource_providers/{host}/aggregates", aggregates)
            assert claim(client, host)[0] == 204
            assert claim(client, host, 1000)[0] == 409
            for amount in (1, 1, 1000):
                client.call("GET", f"/allocation_candidates?resources=VCPU:{amount}")
        yield service


@pytest.fixture(scope="module")
def scraped(used: AggregatesService) -> Scrape:
    assert eventually(lambda: "plimsoll_search_empty_total" in scrape(used.port).names)
    return scrape(used.port, "?providers=1")


@needs_promtool
def test_prometheus_accepts_the_configuration_and_the_alerts() -> None:
    assert_accepted("check", "config", CONFIG)
    assert_accepted("check", "rules", RULES)


@needs_promtool
def test_prometheus_accepts_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    expressions = dashboard_expressions()
    assert len(expressions) > 30
    assert not any("$" in expression for expression in expressions)
    rules = [{"record": f"panel:{number}", "expr": each} for number, each in enumerate(expressions)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    assert_accepted("check", "rules", tmp_path / "rules.yml")


@needs_promtool
def test_prometheus_accepts_the_text_of_a_scrape(used: AggregatesService) -> None:
    for query, remarks in (
        ("", set()),
        # A name of openstack-exporter, which its dashboards use.
        (
            "?providers=1",
            {'openstack_placement_resource_total non-counter metrics should not have "_total" suffix'},
        ),
    ):
        with urllib.request.urlopen(f"http://127.0.0.1:{used.port}/metrics{query}") as response:
            done = promtool("check", "metrics", text=response.read().decode())
        assert set(done.stderr.splitlines()) == remarks


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="not run: prometheus is not installed")
def test_a_real_prometheus_has_data_for_every_panel_and_no_alert_without_a_cause(
    used: AggregatesService, tmp_path: Path
) -> None:
    with Prometheus(tmp_path, used.port) as prometheus:
        assert eventually(lambda: prometheus.query("count_over_time(plimsoll_database_up[1m]) > 3") != [])
        empty = [each for each in dashboard_expressions() if not prometheus.query(each)]
        assert empty == []
        firing = {alert["alert"] for alert in alerts() if prometheus.query(alert["expr"])}
    assert firing == set()


def test_each_metric_of_the_alerts_exists(scraped: Scrape) -> None:
    named = {name for alert in alerts() for name in METRIC.findall(alert["expr"])}
    assert len(named) > 10
    assert named - scraped.names == set()


def test_each_metric_of_the_dashboard_exists(scraped: Scrape) -> None:
    named = {name for expression in dashboard_expressions() for name in METRIC.findall(expression)}
    assert len(named) > 20
    assert named - scraped.names == set()


def test_each_alert_is_in_the_guide() -> None:
    guide = GUIDE.read_text()
    assert [alert["alert"] for alert in alerts() if f"`{alert['alert']}`" not in guide] == []


def test_the_panels_do_not_overlap_and_have_titles() -> None:
    cells = [
        (x, y)
        for panel in panels()
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert all(panel["title"] for panel in panels())
