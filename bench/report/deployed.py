# SPDX-License-Identifier: Apache-2.0

"""The table of `python -m bench deployed`, and its goals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HEADER = (
    "layout",
    "work",
    "per second",
    "of 1x1",
    "of reference",
    "services",
    "database",
    "clients",
    "p50",
    "p99",
    "p99/p50",
    "fairness",
    "head held",
    "per commit",
    "followed",
)

OF_FIRST: Mapping[tuple[str, str], float] = {("3x1", "claims"): 0.7, ("3x2", "claims"): 0.5}
"""The lowest rate of a layout and work, as a share of the rate of 1x1."""
OF_REFERENCE: Mapping[tuple[str, str], float] = {
    ("3x2", "claims"): 25,
    ("3x2", "selections"): 100,
    ("3x2", "mix"): 15,
}
"""How many times the rate of the reference, deployed alike."""
MAX_P99, MIN_FAIRNESS, MAX_FOLLOW_US = 4.0, 0.5, 50.0
"""For claims: p99 in times of p50, and the slowest client in times of the fastest. Processor time per followed claim."""

LOCKED_PART = 0.3
"""The share of a service's processor time that it spends while it holds the lock of the head, if several services write: it
follows, decides, and composes statements. By cProfile, on MariaDB."""
PROCESSORS = 2, 4, 8, 16


def deployed_table(results: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
    """Return header and lines. Costs are processor times per unit of work, of all processes of a kind."""
    return HEADER, [_cells(line) for line in results["lines"]]


def follow_sentence(results: Mapping[str, Any]) -> str:
    follow = results["follow"]
    if follow is None:
        return ""
    return (
        f"Processor time of a service that only follows: {follow['us']:.0f} µs per claim made at another service,"
        f" with {follow['per_read']:.0f} claims per read of the change log."
    )


def model_table(results: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[tuple[str, ...]]]:
    """Return what the processor times of a claim permit on machines with more processors, which services, database and clients share.

    It is the lowest of three limits: all work on all processors; the work of a service in the one process of it that
    writes; and what is done while the head is locked, one commit after the other. Waits for disks are left out.
    """
    lines = [line for line in results["lines"] if line["work"] == "claims" and not line["is_reference"]]
    return (
        ("layout", *(f"{count} processors" for count in PROCESSORS), "limited by at the end"),
        [
            (
                line["layout"],
                *(f"{min(_limits(line, count).values()):,.0f}" for count in PROCESSORS),
                min(_limits(line, PROCESSORS[-1]).items(), key=lambda each: each[1])[0],
            )
            for line in lines
        ],
    )


def _limits(line: Mapping[str, Any], processors: int) -> Mapping[str, float]:
    """Return the claims per second that each limit permits."""
    services, database, clients = (line[f"{name}_us"] for name in ("services", "database", "clients"))
    layout = line["layout"]
    writers = 1 if layout.endswith("-backup") else int(layout.partition("x")[0])
    locked = database + (LOCKED_PART * services if writers > 1 else 0.0)
    return {
        "processors": processors * 1e6 / (services + database + clients),
        "the processes that write": writers * 1e6 / services,
        "the lock": 1e6 / locked,
    }


def missed_goals(results: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each goal that is missed. Works and layouts that were not measured are left out."""
    return [*_missed(results)]


def _missed(results: Mapping[str, Any]) -> Iterator[str]:
    lines = [line for line in results["lines"] if not line["is_reference"]]
    for line in lines:
        key, name = (line["layout"], line["work"]), f"{line['layout']} {line['work']}"
        if line["of_first"] < OF_FIRST.get(key, 0) and lines[0]["layout"] == "1x1":
            yield f"{name}: {line['of_first']:.2f} of 1x1, the goal is {OF_FIRST[key]}"
        if line["of_reference"] is not None and line["of_reference"] < OF_REFERENCE.get(key, 0):
            yield f"{name}: {line['of_reference']:.1f} times the reference, the goal is {OF_REFERENCE[key]}"
        if line["work"] == "claims" and line["p50_ms"] is not None:
            if line["p99_ms"] > MAX_P99 * line["p50_ms"]:
                yield f"{name}: p99 is {line['p99_ms'] / line['p50_ms']:.1f} times p50, the goal is {MAX_P99}"
            if line["fairness"] < MIN_FAIRNESS:
                yield f"{name}: the slowest client gets {line['fairness']:.2f} of the fastest, the goal is {MIN_FAIRNESS}"
    if results["follow"] is not None and results["follow"]["us"] > MAX_FOLLOW_US:
        yield f"following: {results['follow']['us']:.0f} µs per claim, the goal is {MAX_FOLLOW_US:.0f}"


def _cells(line: Mapping[str, Any]) -> tuple[str, ...]:
    is_reference = line["is_reference"]
    return (
        f"reference {line['layout']}" if is_reference else line["layout"],
        line["work"],
        f"{line['rate']:,.0f}",
        "" if is_reference else f"{line['of_first']:.2f}",
        "" if is_reference else _text(line["of_reference"], "{:.1f} x"),
        f"{line['services_us']:,.0f} µs",
        f"{line['database_us']:,.0f} µs",
        f"{line['clients_us']:,.0f} µs",
        _text(line["p50_ms"], "{:.2f} ms"),
        _text(line["p99_ms"], "{:.2f} ms"),
        _text(line["p99_ms"] and line["p99_ms"] / line["p50_ms"], "{:.1f}"),
        f"{line['fairness']:.2f}",
        _text(line["head_held"], "{:.0%}"),
        _text(line["per_commit"], "{:.2f}"),
        _text(line["followed"], "{:.2f}"),
    )


def _text(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
