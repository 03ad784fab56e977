# SPDX-License-Identifier: Apache-2.0

"""Measure this checkout beside another checkout of Plimsoll, for example the commit before a change.

Both run with the packages of this environment, each on a database of its own that is filled alike, and alternate
round by round. A ratio is the speed of this checkout divided by the speed of the other one. The status is 0 only if
no ratio is below `--at-least`.

    git worktree add /tmp/before HEAD~1
    python -m bench compare /tmp/before --database mariadb --only get-provider claims-8
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench.client.driving import Extent
from bench.measuring.rounds import FULL, Effort, Turn
from bench.measuring.works import BUILDERS, WORKS, Work
from bench.report.table import as_text
from bench.site.databases import KINDS, engines, missing
from bench.site.services import ROOT, running
from bench.site.site import Site

HELP = "measure this checkout beside another one"
THIS, OTHER = "this", "other"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("other", type=Path, help="the root directory of the other checkout")
    parser.add_argument("--database", choices=KINDS, default="mariadb")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="works whose key has one of these words")
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each work and checkout")
    parser.add_argument("--seconds", type=float, default=0.7, help="length of a round")
    parser.add_argument("--at-least", type=float, default=0.95, help="the lowest ratio that is accepted")


def main(arguments: argparse.Namespace) -> int:
    reason = missing(arguments.database)
    if reason:
        print(f"Nothing was measured: {reason}.")
        return 2
    words = arguments.only or [""]
    works = [work for work in WORKS if any(word in work.key for word in words)]
    effort = replace(FULL, rounds=arguments.rounds, our_seconds=arguments.seconds)
    lines: list[tuple[str, ...]] = []
    lowest = 1e9
    with tempfile.TemporaryDirectory(prefix="plimsoll-compare-") as directory:
        place = Path(directory)
        with engines(arguments.database, None, place) as (_, ours):
            for work, ratio, line in _measure(Site(ours, ours, place), works, arguments.other, effort):
                print(f"{work.key}: {ratio:.3f}", file=sys.stderr, flush=True)
                lowest = min(lowest, ratio)
                lines.append((*line, "" if ratio >= arguments.at_least else "BELOW"))
    print(as_text(("work", THIS, OTHER, "ratio", "quartiles", "processor", ""), lines))
    return 0 if lowest >= arguments.at_least else 1


def _measure(
    site: Site, works: Sequence[Work], other: Path, effort: Effort
) -> Iterator[tuple[Work, float, tuple[str, ...]]]:
    for world in dict.fromkeys(work.world for work in works):
        rows = BUILDERS[world]()
        with ExitStack() as stack:
            this = stack.enter_context(site.plimsoll(f"{world}_{THIS}", rows, ROOT))
            that = stack.enter_context(site.plimsoll(f"{world}_{OTHER}", rows, other.resolve()))
            stack.enter_context(running(this, that))
            time.sleep(1)
            for work in works:
                if work.world != world:
                    continue
                clients = work.clients(rows)
                extent = Extent(effort.our_seconds, 10 * effort.least, warm=20)
                turns = [Turn(THIS, this, clients, extent), Turn(OTHER, that, clients, extent)]
                for number in range(effort.rounds):
                    for turn in turns if number % 2 == 0 else reversed(turns):
                        turn.take(work.count)
                yield (work, *_compared(work, *turns))


def _compared(work: Work, this: Turn, that: Turn) -> tuple[float, tuple[str, ...]]:
    """The median of the ratios of neighbouring rounds, and the cells of a line."""
    for turn in (this, that):
        if turn.error is not None:
            raise RuntimeError(f"{work.key}: {turn.label}: {turn.error}")
    ratios = [one.rate / two.rate for one, two in zip(this.rounds, that.rounds, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    ours, theirs = this.result(work.count), that.result(work.count)
    return middle, (
        work.title,
        f"{ours['rate']:,.0f}/s",
        f"{theirs['rate']:,.0f}/s",
        f"{middle:.3f}",
        f"{low:.2f} to {high:.2f}",
        f"{1000 * ours['server_ms']:,.0f} and {1000 * theirs['server_ms']:,.0f} µs",
    )
