# SPDX-License-Identifier: Apache-2.0

"""Results as text tables, for the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MISSES = "MISSES"

Cells = Sequence[str]


def works_table(results: Mapping[str, Any]) -> tuple[Cells, list[Cells]]:
    """Return a line for each workload and settings of the reference: both times, the ratio, the goal."""
    header = ("work", "reference", "p99", "Plimsoll", "p99", "ratio", "goal", "")
    verdicts = {(each["key"], each["beside"]): each for each in results["verdicts"]}
    lines: list[Cells] = []
    for done in results["works"]:
        for label, theirs in done["servers"].items():
            if not label.startswith("reference-"):
                continue
            compared_with = "reference" if label == "reference-default" else "reference, tuned"
            verdict = verdicts[done["key"], compared_with]
            title = done["title"] if compared_with == "reference" else f"{done['title']} (tuned)"
            both = [*_side(done["kind"], theirs), *_side(done["kind"], done["servers"]["plimsoll"])]
            lines.append((title, *both, *_judged(verdict)))
    return header, lines


def limits_table(results: Mapping[str, Any]) -> tuple[Cells, list[Cells]]:
    """Return our candidates responses compared with the same bytes sent ready-made."""
    header = ("response", "bytes", "ready-made", "Plimsoll", "times", "at most", "")
    verdicts = {each["key"]: each for each in results["verdicts"] if each["beside"] == "ready-made"}
    lines: list[Cells] = []
    for done in results["works"]:
        ready, ours = done["servers"].get("ready-made"), done["servers"]["plimsoll"]
        if ready is not None:
            size = f"{ours.get('answer_bytes', 0):,}"
            times = _side("time", ready)[0], _side("time", ours)[0]
            lines.append((done["title"], size, *times, *_judged(verdicts[done["key"]])))
    return header, lines


def growth_table(results: Mapping[str, Any]) -> tuple[Cells, list[Cells]]:
    """Return the figures for each number of providers."""
    header = (
        "providers",
        "start",
        "limit=1000",
        "p99",
        "processor",
        "claim",
        "memory of a worker",
        "reference, limit=1000",
    )
    lines: list[Cells] = []
    for size in results.get("growth", {}).get("sizes", []):
        search, claim, theirs = size["search"], size["claim"], size.get("reference")
        lines.append(
            (
                f"{size['providers']:,}",
                f"{size['start_s']:.1f} s",
                milliseconds(search["median_ms"]),
                milliseconds(search["p99_ms"]),
                milliseconds(search["server_ms"]),
                milliseconds(claim["median_ms"]),
                f"{size['memory_mb']:.0f} MB",
                milliseconds(theirs["median_ms"]) if theirs else "not measured",
            )
        )
    return header, lines


def growth_verdicts(results: Mapping[str, Any]) -> tuple[Cells, list[Cells]]:
    header = ("growth", "measured", "at most", "")
    listed = [each for each in results["verdicts"] if each["beside"] == "growth"]
    return header, [(each["title"], *_judged(each)) for each in listed]


def client_table(results: Mapping[str, Any]) -> tuple[Cells, list[Cells]]:
    header = ("the client alone, against a server that does nothing", "per request", "its processor time")
    lines: list[Cells] = [
        (name, milliseconds(cost["median_ms"]), f"{cost['client_us']:.0f} µs")
        for name, cost in results["client"].items()
    ]
    return header, lines


def as_text(header: Cells, lines: Sequence[Cells]) -> str:
    """Format columns for a terminal: text left-aligned, figures right-aligned."""
    widths = [max(len(line[at]) for line in (header, *lines)) for at in range(len(header))]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([_aligned(header, widths), rule, *(_aligned(line, widths) for line in lines)])


def as_markdown(header: Cells, lines: Sequence[Cells]) -> str:
    rule = "|".join(["", "---", *["---:"] * (len(header) - 1), ""])
    return "\n".join([_piped(header), rule, *map(_piped, lines)])


def milliseconds(value: float) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f} ms"


def _side(kind: str, server: Mapping[str, Any]) -> tuple[str, str]:
    if not server["units"]:
        return "fails" if "error" in server else "none done", ""
    first = (
        f"{server['rate']:,.{1 if server['rate'] < 100 else 0}f}/s"
        if kind == "rate"
        else milliseconds(server["median_ms"])
    )
    refused = f" ({server['refused']} refused)" if server["refused"] else ""
    return first + refused, milliseconds(server["p99_ms"])


def _judged(verdict: Mapping[str, Any]) -> tuple[str, str, str]:
    value, goal = verdict["value"], verdict["goal"]
    return _figure(value, verdict["unit"]), _figure(goal, verdict["unit"]), "" if verdict["holds"] else MISSES


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}".removesuffix(".00").removesuffix(".0") + f" {unit}"


def _aligned(line: Cells, widths: Sequence[int]) -> str:
    first, *rest = (
        cell.ljust(width) if at in (0, len(widths) - 1) else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _piped(line: Cells) -> str:
    return "| " + " | ".join(line) + " |"
