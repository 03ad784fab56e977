# SPDX-License-Identifier: Apache-2.0

"""Plots of the results: ratios with goals, times of both services, devices, growth.

Equal results give equal files, byte by byte, so that a plot changes only when a figure does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

mpl.use("svg")
mpl.rcParams.update(
    {
        "svg.hashsalt": "plimsoll",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e4e4e4",
        "figure.facecolor": "white",
    }
)

Results = Mapping[str, Any]

COLOURS = {"mariadb": "#1f6f8b", "postgresql": "#4c9f70", "sqlite": "#7a5ea8"}
REFERENCE, TUNED, OURS = "#c2662d", "#e0a370", "#1f6f8b"
PLAIN = FuncFormatter(lambda value, _: f"{value:,g}")
NAMES = {"mariadb": "MariaDB", "postgresql": "PostgreSQL", "sqlite": "SQLite (reference on MariaDB)"}


def draw_all(results: Sequence[Results], directory: Path) -> list[str]:
    """Draw the plots for which there are figures, and return their names."""
    directory.mkdir(parents=True, exist_ok=True)
    first = results[0]
    pictures: list[tuple[str, Callable[[Path], bool]]] = [
        ("ratios", lambda path: _ratios(results, path)),
        ("times", lambda path: _times(first, path)),
        ("devices", lambda path: _devices(first, path)),
        ("growth", lambda path: _growth(results, path)),
    ]
    return [name for name, draw in pictures if draw(directory / f"{name}.svg")]


def _ratios(results: Sequence[Results], path: Path) -> bool:
    """Draw a bar for each workload and database, with a line at the goal."""
    judged = [
        {
            (each["key"], each["beside"]): each
            for each in one["verdicts"]
            if each["beside"].startswith("reference")
        }
        for one in results
    ]
    works = list(dict.fromkeys(key for one in judged for key in one))
    if not works:
        return False
    figure = Figure(figsize=(8.5, 0.9 + 0.32 * len(works)))
    axes = figure.subplots()
    height = 0.8 / len(results)
    for number, (one, verdicts) in enumerate(zip(results, judged, strict=True)):
        found = [(at, verdicts[key]) for at, key in enumerate(works) if key in verdicts]
        at = [position - 0.4 + height * (number + 0.5) for position, _ in found]
        colour = COLOURS[one["database"]]
        axes.barh(
            at, [each["value"] or 0 for _, each in found], height, color=colour, label=NAMES[one["database"]]
        )
        for position, (_, each) in zip(at, found, strict=True):
            if each["goal"]:
                axes.plot(
                    [each["goal"]] * 2,
                    [position - height / 2, position + height / 2],
                    color="black",
                    linewidth=1.8,
                )
    titles = {
        key: each["title"] + (" (tuned)" if key[1] != "reference" else "")
        for one in judged
        for key, each in one.items()
    }
    axes.set_yticks(range(len(works)), [titles[key] for key in works])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.set_xlim(left=1)
    axes.set_xlabel("times as fast as the reference in the same run; the black line is the goal")
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower right", frameon=True)
    return _save(figure, path)


def _times(result: Results, path: Path) -> bool:
    """Draw the median of both services for each workload, with a line to the 99th percentile."""
    works = result["works"]
    if not works:
        return False
    figure = Figure(figsize=(8.5, 0.9 + 0.3 * len(works)))
    axes = figure.subplots()
    for at, done in enumerate(works):
        for label, colour in (
            ("reference-default", REFERENCE),
            ("reference-tuned", TUNED),
            ("plimsoll", OURS),
        ):
            server = done["servers"].get(label)
            if server and server["units"]:
                axes.plot(
                    [server["median_ms"], server["p99_ms"]], [at, at], color=colour, linewidth=2, alpha=0.5
                )
                axes.plot(server["median_ms"], at, "o", color=colour, markersize=5)
    for label, colour in (("reference", REFERENCE), ("reference, tuned", TUNED), ("Plimsoll", OURS)):
        axes.plot([], [], "o-", color=colour, label=label)
    axes.set_yticks(range(len(works)), [done["title"] for done in works])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(PLAIN)
    axes.set_xlabel(f"milliseconds, median to 99th percentile, on {NAMES[result['database']]}")
    axes.legend(loc="lower right", frameon=True)
    return _save(figure, path)


def _devices(result: Results, path: Path) -> bool:
    """Draw the time by the number of groups."""
    found = {int(done["key"].split("-")[1]): done for done in result["works"] if done["world"] == "devices"}
    if not found:
        return False
    figure = Figure(figsize=(6, 3.4))
    axes = figure.subplots()
    sides = (
        ("reference-default", "reference", REFERENCE),
        ("reference-tuned", "reference, tuned", TUNED),
        ("plimsoll", "Plimsoll", OURS),
    )
    for label, name, colour in sides:
        points = [
            (groups, done["servers"][label]["median_ms"])
            for groups, done in found.items()
            if done["servers"].get(label, {}).get("units")
        ]
        if points:
            axes.plot(*zip(*points, strict=True), "o-", color=colour, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(PLAIN)
    axes.set_xticks(sorted(found))
    axes.set_xlabel("groups that each ask for one device; 20 hosts of 8 devices, limit=1000")
    axes.set_ylabel("milliseconds")
    axes.legend()
    return _save(figure, path)


def _growth(results: Sequence[Results], path: Path) -> bool:
    """Draw searches, claims and memory by the number of providers."""
    grown = [one for one in results if one.get("growth")]
    if not grown:
        return False
    figure = Figure(figsize=(8.5, 3.4))
    times, memory = figure.subplots(1, 2)
    for one in grown:
        sizes, colour, name = one["growth"]["sizes"], COLOURS[one["database"]], one["database"]
        _line(times, sizes, lambda size: size["search"]["median_ms"], f"search, {name}", "o-", colour)
        _line(times, sizes, lambda size: size["claim"]["median_ms"], f"claim, {name}", "s--", colour)
        _line(memory, sizes, lambda size: size["memory_mb"], name, "o-", colour)
    theirs = [size for size in grown[0]["growth"]["sizes"] if size.get("reference")]
    _line(times, theirs, lambda size: size["reference"]["median_ms"], "search, reference", "o-", REFERENCE)
    times.set_yscale("log")
    times.yaxis.set_major_formatter(PLAIN)
    for axes, label in ((times, "milliseconds"), (memory, "MB, memory of a worker")):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(PLAIN)
        axes.set_xlabel("providers")
        axes.set_ylabel(label)
        axes.legend(fontsize=7)
    memory.set_ylim(bottom=0)
    return _save(figure, path)


def _line(
    axes: Axes, sizes: Sequence[Any], value: Callable[[Any], float], label: str, style: str, colour: str
) -> None:
    axes.plot(
        [size["providers"] for size in sizes],
        [value(size) for size in sizes],
        style,
        color=colour,
        label=label,
    )


def _save(figure: Figure, path: Path) -> bool:
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": "python -m bench page"})
    return True
