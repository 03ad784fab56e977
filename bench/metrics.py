# SPDX-License-Identifier: Apache-2.0

"""Measure the cost of metrics: services with `[plimsoll]metrics` on and off, on databases with equal rows.

They alternate round by round. The cost is the processor time of the service per request, which depends less than its
speed on other programs of the machine; a ratio is the time with metrics divided by the time without. The exit status
is 0 only if no ratio is above `--at-most`.

    python -m bench metrics --database mariadb --rounds 20
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from bench.client.driving import Clients
from bench.client.units import claims
from bench.datasets.rows import Rows
from bench.measuring.rounds import FULL, Effort, ServerMeasurement
from bench.measuring.workloads import BUILDERS, provider_reads
from bench.report.table import as_text
from bench.site.databases import KINDS, engines, is_missing
from bench.site.services import Deployment, Plimsoll
from bench.site.site import Site

HELP = "measure the cost of metrics"
CLIENTS = 8
LOADS: Mapping[str, Callable[[Rows], Clients]] = {"GET of a provider": provider_reads(""), "claims": claims}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", choices=KINDS, default="mariadb")
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each work, with and without")
    parser.add_argument("--seconds", type=float, default=0.6, help="length of a round")
    parser.add_argument("--at-most", type=float, default=1.05, help="the highest ratio that is accepted")


def main(arguments: argparse.Namespace) -> int:
    if is_missing(arguments.database):
        return 2
    effort = replace(FULL, rounds=arguments.rounds, our_seconds=arguments.seconds)
    highest = 0.0
    lines = []
    rows = BUILDERS["flat"]()
    with tempfile.TemporaryDirectory(prefix="plimsoll-metrics-cost-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, None, directory) as (_, ours):
            site = Site(ours, ours, directory)
            off = {"OS_PLIMSOLL__METRICS": "false"}
            with (
                site.deployment("metrics_on", rows, 1) as on,
                site.deployment("metrics_off", rows, 1, Plimsoll, off) as plain,
            ):
                for title, load in LOADS.items():
                    costs = [_costs(on, plain, load(rows), effort, number) for number in range(effort.rounds)]
                    low, middle, high = statistics.quantiles([one / other for one, other in costs], n=4)
                    with_metrics, without = (statistics.median(each) for each in zip(*costs, strict=True))
                    highest = max(highest, middle)
                    cells = f"{1000 * with_metrics:.0f} µs", f"{1000 * without:.0f} µs"
                    lines.append((title, *cells, f"{middle:.3f}", f"{low:.3f} to {high:.3f}"))
                    print(f"{title}: {middle:.3f}", file=sys.stderr, flush=True)
    print(as_text((f"{CLIENTS} clients", "with metrics", "without", "ratio", "quartiles"), lines))
    return 0 if highest <= arguments.at_most else 1


def _costs(
    on: Deployment, plain: Deployment, clients: Clients, effort: Effort, number: int
) -> tuple[float, float]:
    """Return the processor time per request in milliseconds, with and without metrics, of one round of each."""
    length = effort.round_length(is_reference=False)
    pair = [
        ServerMeasurement("with", on, clients, length),
        ServerMeasurement("without", plain, clients, length),
    ]
    for measurement in pair if number % 2 == 0 else reversed(pair):
        measurement.run_round(CLIENTS)
        if measurement.error is not None:
            raise RuntimeError(f"{measurement.label}: {measurement.error}")
    one, other = (float(measurement.result(CLIENTS)["server_ms"]) for measurement in pair)
    return one, other
