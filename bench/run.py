# SPDX-License-Identifier: Apache-2.0

"""Measure Plimsoll and the reference, print the tables and write all figures as JSON.

The exit status is 0 only if every goal is reached; missed goals are marked. Without a database server to start, nothing
is measured: a message gives the reason, and the quick form exits with 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.client.cost import client_cost
from bench.measuring import growth, verdicts
from bench.measuring.machine import cpu_used_by_others, describe
from bench.measuring.rounds import FULL, QUICK, Effort
from bench.measuring.sidebyside import measure_workloads
from bench.measuring.workloads import WORKLOADS
from bench.report import table
from bench.site.databases import KINDS, engines, is_missing
from bench.site.services import ROOT, Plimsoll
from bench.site.site import Site

HELP = "measure both services and print the table"
BUSY = 10.0
"""Percent of the processors: above this load by other programs the results are not reliable."""
RESULTS = ROOT / "var" / "bench"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--database", choices=KINDS, default="mariadb", help="for sqlite, the reference has MariaDB"
    )
    parser.add_argument("--server", help="the URL of a database server to use instead of a private one")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the main works only, short, compared with a quarter of each goal",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="WORD",
        help="works whose key contains one of these words; growth is one of them",
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=growth.SIZES, help="providers, for growth")
    parser.add_argument("--rounds", type=int, help="rounds of each work")
    parser.add_argument("--workers", type=int, default=1, help="worker processes of Plimsoll")
    parser.add_argument("--results", type=Path, help="where the JSON goes (var/bench/<database>.json)")


def main(arguments: argparse.Namespace) -> int:
    if not arguments.server and is_missing(arguments.database):
        return 0 if arguments.quick else 2  # the quick form is a check that may be skipped
    effort = QUICK if arguments.quick else FULL
    if arguments.rounds:
        effort = replace(effort, rounds=arguments.rounds)
    Plimsoll.worker_count = arguments.workers
    start_time, others = time.monotonic(), cpu_used_by_others()

    def progress(step: str) -> None:
        print(f"{time.monotonic() - start_time:6.0f} s  {step}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, arguments.server, directory) as (theirs, ours):
            results = _measure(Site(theirs, ours, directory), arguments, effort, progress)
    results["used_by_others"] = others
    name = f"{arguments.database}-quick" if arguments.quick else arguments.database
    path = arguments.results or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    _print(results)
    print(f"All figures are in {path}{_pictures(results, path.with_suffix(''))}.")
    missed = [each for each in results["verdicts"] if not each["holds"]]
    print(
        f"{len(missed)} of {len(results['verdicts'])} goals missed." if missed else "Every goal is reached."
    )
    return 1 if missed else 0


def _measure(site: Site, arguments: argparse.Namespace, effort: Effort, progress: Any) -> dict[str, Any]:
    database, quick, only = arguments.database, arguments.quick, arguments.only
    works = [work.quick_version() for work in WORKLOADS if work.quick] if quick else list(WORKLOADS)
    if only:
        works = [work for work in works if any(word in work.key for word in only)]
    results: dict[str, Any] = {"database": database, "quick": quick, **describe(site)}
    progress("the client alone")
    results["client"] = client_cost(0.2 if quick else 0.5, 1 if quick else 3)
    results["works"] = measure_workloads(site, works, effort, progress)
    judged = verdicts.judge_workloads(results["works"], database, quick)
    if not quick and (not only or "growth" in only):
        results["growth"] = growth.measure_growth(site, effort, progress, arguments.sizes)
        judged += growth.judge_growth(results["growth"])
    results["verdicts"] = [verdict.to_json() for verdict in judged]
    return results


def _pictures(results: Mapping[str, Any], directory: Path) -> str:
    try:
        from bench.report.plots import draw_all
    except ImportError:
        return "; no pictures, because matplotlib is not installed"
    return f", pictures in {directory}" if draw_all([results], directory) else ""


def _print(results: Mapping[str, Any]) -> None:
    machine = results["machine"]
    print(f"\n{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB; ", end="")
    print(", ".join(results["versions"]["databases"]), f"- {results['when']}")
    print(f"A write of 4 KB is durable after {table.milliseconds(machine['fsync_ms'])}")
    if results["used_by_others"] > BUSY:
        print(
            f"Other programs used {results['used_by_others']:.0f} % of the processors at the start: do not trust the figures."
        )
    print()
    tables = (
        table.works_table,
        table.limits_table,
        table.growth_table,
        table.growth_verdicts,
        table.client_table,
    )
    for make in tables:
        header, lines = make(results)
        if lines:
            print(table.as_text(header, lines), end="\n\n")
