# SPDX-License-Identifier: Apache-2.0

"""Measure this checkout and another checkout of Plimsoll, for example the commit before a change.

Both run with the packages of this environment, each on its own database with equal rows, and alternate round by round.
A ratio is the speed of this checkout divided by the speed of the other one. The exit status is 0 only if no ratio is
below `--at-least`.

    git worktree add /tmp/before HEAD~1
    python -m bench compare /tmp/before --database mariadb --only get-provider claims-8
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.measuring.rounds import FULL, Effort, ServerMeasurement, alternate, rate_ratios
from bench.measuring.workloads import BUILDERS, WORKLOADS, Workload
from bench.report.table import as_text
from bench.site.databases import KINDS, engines, is_missing
from bench.site.services import ROOT, running
from bench.site.site import Site

HELP = "compare this checkout with another one"
THIS, OTHER = "this", "other"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("other", type=Path, help="the root directory of the other checkout")
    parser.add_argument("--database", choices=KINDS, default="mariadb")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="works whose key contains one of these words"
    )
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each work and checkout")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a round")
    parser.add_argument("--at-least", type=float, default=0.95, help="the lowest ratio that is accepted")


def main(arguments: argparse.Namespace) -> int:
    if is_missing(arguments.database):
        return 2
    words = arguments.only or [""]
    works = [work for work in WORKLOADS if any(word in work.key for word in words)]
    effort = replace(FULL, rounds=arguments.rounds, our_seconds=arguments.seconds)
    lines: list[tuple[str, ...]] = []
    lowest = 1e9
    with tempfile.TemporaryDirectory(prefix="plimsoll-compare-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, None, directory) as (_, ours):
            for work, ratio, line in _measure(Site(ours, ours, directory), works, arguments.other, effort):
                print(f"{work.key}: {ratio:.3f}", file=sys.stderr, flush=True)
                lowest = min(lowest, ratio)
                lines.append((*line, "" if ratio >= arguments.at_least else "BELOW"))
    print(as_text(("work", THIS, OTHER, "ratio", "quartiles", "processor", ""), lines))
    return 0 if lowest >= arguments.at_least else 1


def _measure(
    site: Site, works: Sequence[Workload], other: Path, effort: Effort
) -> Iterator[tuple[Workload, float, tuple[str, ...]]]:
    for dataset in dict.fromkeys(work.dataset for work in works):
        rows = BUILDERS[dataset]()
        with ExitStack() as stack:
            this = stack.enter_context(site.plimsoll(f"{dataset}_{THIS}", rows, ROOT))
            that = stack.enter_context(site.plimsoll(f"{dataset}_{OTHER}", rows, other.resolve()))
            stack.enter_context(running(this, that))
            time.sleep(1)
            for work in works:
                if work.dataset != dataset:
                    continue
                clients = work.clients(rows)
                round_length = effort.round_length(is_reference=False)
                measurements = [
                    ServerMeasurement(THIS, this, clients, round_length),
                    ServerMeasurement(OTHER, that, clients, round_length),
                ]
                results = alternate(measurements, work.count, effort.rounds)
                yield (work, *_summarise(work, measurements, results))


def _summarise(
    work: Workload, measurements: Sequence[ServerMeasurement], results: Mapping[str, Mapping[str, Any]]
) -> tuple[float, tuple[str, ...]]:
    """Return the median of the ratios of consecutive rounds, and the cells of a line."""
    ratios = rate_ratios(work.key, *measurements)
    low, middle, high = statistics.quantiles(ratios, n=4)
    ours, theirs = results[THIS], results[OTHER]
    return middle, (
        work.title,
        f"{ours['rate']:,.0f}/s",
        f"{theirs['rate']:,.0f}/s",
        f"{middle:.3f}",
        f"{low:.2f} to {high:.2f}",
        f"{1000 * ours['server_ms']:,.0f} and {1000 * theirs['server_ms']:,.0f} µs",
    )
