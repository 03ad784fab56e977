# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.docs.dashboard`: draw deploy/grafana/plimsoll.json as docs/pictures/dashboard.webp.

A demo with live traffic is scraped by a real Prometheus (Debian's package `prometheus`) for some minutes; each panel shows
what Prometheus answers to the expressions of the panel. The layout, titles and legends are those of the dashboard.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.dates import DateFormatter

from tests.support.servers.places import free_port

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy/grafana/plimsoll.json"
PICTURE = ROOT / "docs/pictures/dashboard.webp"
STEP_SECONDS = 5
START_SECONDS = 10.0
"""Seconds for each process to start."""
COLUMNS, COLUMN_INCHES, ROW_INCHES = 24, 0.75, 0.42
VARIABLES = {"$__rate_interval": "30s", "$instance": ".*"}
MAX_LINES = 8
"""Lines of a table, and entries of a legend."""


class Prometheus:
    """Answers queries about the time since it was started."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/api/v1"
        self._began = time.time()

    def series(self, expression: str) -> list[Any]:
        """Return the time series of an expression."""
        times = {"start": self._began, "end": time.time(), "step": STEP_SECONDS}
        return self._ask("query_range", query=_expanded(expression), **times)

    def values(self, expression: str) -> list[Any]:
        """Return the present values of an expression."""
        return self._ask("query", query=_expanded(expression))

    def _ask(self, path: str, **parameters: object) -> list[Any]:
        url = f"{self.url}/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as response:
            result: list[Any] = json.load(response)["data"]["result"]
            return result


def _expanded(expression: str) -> str:
    for name, text in VARIABLES.items():
        expression = expression.replace(name, text)
    return expression


@contextmanager
def measured_demo(seconds: float) -> Iterator[Prometheus]:
    """Start a demo with live traffic and a Prometheus that scrapes it, and wait."""
    port, own_port = free_port(), free_port()
    with tempfile.TemporaryDirectory(prefix="plimsoll-dashboard-") as name:
        directory = Path(name)
        config = directory / "prometheus.yml"
        scrape = {
            "job_name": "plimsoll",
            "params": {"providers": ["1"]},
            "static_configs": [{"targets": [f"127.0.0.1:{port}"]}],
        }
        config.write_text(
            json.dumps({"global": {"scrape_interval": f"{STEP_SECONDS}s"}, "scrape_configs": [scrape]})
        )
        settings = directory / "placement.conf"
        settings.write_text(
            "[plimsoll]\nmetrics_providers = true\nmetrics_aggregates = true\n"
            "shapes = m1.large=resources=VCPU:4,MEMORY_MB:8192\n"
        )
        plimsoll = str(Path(sys.executable).with_name("plimsoll"))
        url = f"http://127.0.0.1:{port}"
        commands = [
            [plimsoll, "--config-file", str(settings), "serve", "--dev", "--port", str(port)],
            [plimsoll, "demo", "--url", url, "--hosts", "100", "--live", "--rate", "20"],
            [
                "prometheus",
                f"--config.file={config}",
                f"--storage.tsdb.path={directory / 'data'}",
                f"--web.listen-address=127.0.0.1:{own_port}",
            ],
        ]
        processes = []
        for number, command in enumerate(commands):
            with (directory / f"log{number}").open("w") as log:
                process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=log)
            processes.append(process)
            time.sleep(START_SECONDS)
        try:
            prometheus = Prometheus(own_port)
            time.sleep(seconds)
            yield prometheus
        finally:
            for each in reversed(processes):
                each.terminate()
                each.wait(60)


def draw(dashboard: Mapping[str, Any], prometheus: Prometheus) -> None:
    panels = dashboard["panels"]
    rows = max(each["gridPos"]["y"] + each["gridPos"]["h"] for each in panels)
    figure = pyplot.figure(figsize=(COLUMNS * COLUMN_INCHES, rows * ROW_INCHES))
    for panel in panels:
        place = panel["gridPos"]
        axes = figure.add_axes(
            (
                (place["x"] + 0.7) / COLUMNS,
                1 - (place["y"] + place["h"] - 0.9) / rows,
                (place["w"] - 1.0) / COLUMNS,
                max(0.5, place["h"] - 2.0) / rows,
            )
        )
        axes.set_title(panel["title"], loc="left", fontsize=9, fontweight="bold")
        unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit")
        if panel["type"] == "timeseries":
            _draw_series(axes, panel, prometheus, unit)
        else:
            axes.axis("off")
            if panel["type"] != "row":
                _draw_values(axes, panel, prometheus, unit)
    figure.savefig(PICTURE, dpi=75, pil_kwargs={"quality": 80})
    pyplot.close(figure)


def _draw_series(axes: Any, panel: Mapping[str, Any], prometheus: Prometheus, unit: str | None) -> None:
    for target in panel["targets"]:
        for series in prometheus.series(target["expr"])[:MAX_LINES]:
            times = [datetime.fromtimestamp(at, UTC) for at, _ in series["values"]]
            axes.plot(
                times, [float(each) for _, each in series["values"]], label=_legend(target, series["metric"])
            )
    if "scaleDistribution" in panel["fieldConfig"]["defaults"].get("custom", {}):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: _with_unit(value, unit))
    axes.xaxis.set_major_formatter(DateFormatter("%H:%M:%S"))  # type: ignore[no-untyped-call]
    axes.tick_params(labelsize=6)
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend(fontsize=6, loc="upper left", framealpha=0.6)


def _draw_values(axes: Any, panel: Mapping[str, Any], prometheus: Prometheus, unit: str | None) -> None:
    answers = [prometheus.values(target["expr"]) for target in panel["targets"]]
    if panel["type"] == "stat":
        text = _with_unit(float(answers[0][0]["value"][1]), unit) if answers[0] else "No data"
        axes.text(0.5, 0.4, text, ha="center", fontsize=20)
        return
    lines: dict[str, list[str]] = {}
    for answer in answers:
        for each in answer:
            lines.setdefault(" ".join(each["metric"].values()), []).append(
                _with_unit(float(each["value"][1]), unit)
            )
    for number, (name, values) in enumerate(list(lines.items())[:MAX_LINES]):
        axes.text(0, 0.9 - number * 0.12, name, fontsize=7)
        axes.text(1, 0.9 - number * 0.12, "   ".join(values), fontsize=7, ha="right")


def _legend(target: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    text = str(target.get("legendFormat") or "")
    for name, value in labels.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def _with_unit(value: float, unit: str | None) -> str:
    match unit:
        case "percentunit":
            return f"{value * 100:.3g} %"
        case "s":
            return f"{value * 1e3:.3g} ms"
        case "reqps" | "ops":
            return f"{value:.3g}/s"
    return f"{value:,.6g}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.docs.dashboard", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180.0, help="how long Prometheus scrapes the demo")
    options = parser.parse_args()
    if shutil.which("prometheus") is None:
        print("not drawn: prometheus is not installed (Debian: prometheus)")
        return 0
    mpl.use("Agg")
    with measured_demo(options.seconds) as prometheus:
        draw(json.loads(DASHBOARD.read_text()), prometheus)
    print(f"{PICTURE} has {PICTURE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
