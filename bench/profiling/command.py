# SPDX-License-Identifier: Apache-2.0

"""Show the time of each stage of a request, and the most expensive functions, for each workload.

The application is called in this process, without HTTP; the cost of the HTTP server and the client is the difference to
the same workload over HTTP.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path

from bench.client.driving import Clients, RoundLength, Unit, drive
from bench.measuring.workloads import BUILDERS, WORKLOADS, Workload
from bench.profiling.inprocess import InProcess
from bench.profiling.sampling import sample
from bench.profiling.stages import OUTSIDE, STAGES, classify
from bench.report import table
from bench.site.databases import KINDS, engines
from bench.site.services import Plimsoll
from bench.site.site import Site

HELP = "show the time of each stage of a request"
DEFAULT = ("claims-1", "flat-all", "flat-10", "nested-all", "devices-4", "get-provider")
WARMUP_UNITS = 50
SHOWN_FUNCTIONS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("works", nargs="*", default=DEFAULT, help="keys of works (all: %(default)s)")
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    parser.add_argument("--server", help="the URL of a database server to use instead of a private one")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to measure each work")


def main(arguments: argparse.Namespace) -> int:
    wanted = arguments.works
    works = [work for work in WORKLOADS if work.key in wanted]
    unknown = set(wanted) - {work.key for work in works}
    if unknown:
        print(
            f"No such work: {', '.join(sorted(unknown))}. There are: {', '.join(work.key for work in WORKLOADS)}"
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, arguments.server, directory) as (theirs, ours):
            site = Site(theirs, ours, directory)
            for dataset in dict.fromkeys(work.dataset for work in works):
                _profile(
                    site, dataset, [work for work in works if work.dataset == dataset], arguments.seconds
                )
    return 0


def _profile(site: Site, dataset: str, works: list[Workload], seconds: float) -> None:
    rows = BUILDERS[dataset]()
    with site.plimsoll(dataset, rows) as service:
        service.start()
        over_http = {
            work.key: statistics.median(
                drive(
                    service.ports,
                    work.clients(rows),
                    1,
                    RoundLength(seconds / 3, min_units=20, warmup_units=WARMUP_UNITS),
                ).nanoseconds
            )
            for work in works
        }
        service.stop()
        application = application_of(service)
        for work in works:
            _print(work, over_http[work.key] / 1e9, *_sample(application, work.clients(rows), seconds))


def application_of(service: Plimsoll) -> InProcess:
    """Create the application in this process, with the settings and the log of a service."""
    from plimsoll.bootstrap import make_application
    from plimsoll.config import loader, logging_setup

    with service.settings_applied():
        conf = loader.load([])
        logging_setup.set_up(conf)
        return InProcess(make_application(conf))


def _sample(
    application: InProcess, clients: Clients, seconds: float
) -> tuple[float, dict[str, float], dict[str, float]]:
    """Return the median time of a unit, and its shares by stage and by function."""
    units = clients(0)
    for _ in range(WARMUP_UNITS):
        application.run_unit(next(units))
    times = list(_timed(application, units, seconds))
    with sample(classify) as found:
        for _ in _timed(application, units, seconds):
            pass
    stages: dict[str, float] = defaultdict(float)
    functions: dict[str, float] = defaultdict(float)
    for (stage, function), time_spent in found.items():
        if stage != OUTSIDE:
            stages[stage] += time_spent
            functions[f"{stage:22} {function}"] += time_spent
    total = sum(stages.values())
    return statistics.median(times), _shares(stages, total), _shares(functions, total)


def _timed(application: InProcess, units: Iterator[Unit], seconds: float) -> Iterator[float]:
    until = time.perf_counter() + seconds
    while True:
        unit = next(units)
        start_time = time.perf_counter()
        application.run_unit(unit)
        ended = time.perf_counter()
        yield ended - start_time
        if ended > until:
            return


def _shares(seconds: Mapping[str, float], total: float) -> dict[str, float]:
    return {name: time_spent / total for name, time_spent in seconds.items()}


def _print(
    work: Workload,
    over_http: float,
    in_process: float,
    stages: Mapping[str, float],
    functions: Mapping[str, float],
) -> None:
    # Measured one after the other: on a busy machine the difference may be lost in noise.
    http_part = _part(over_http - in_process, over_http) if over_http > in_process else ("too noisy", "")
    lines = [("HTTP server, kernel, client", *http_part)]
    lines += [
        (stage, *_part(stages[stage] * in_process, over_http))
        for stage in STAGES
        if stages.get(stage, 0) > 0.002
    ]
    lines.append(("all, over HTTP", *_part(over_http, over_http)))
    print(table.as_text((work.title, "time", "share"), lines))
    print("\nMost expensive functions:")
    for name, share in sorted(functions.items(), key=itemgetter(1), reverse=True)[:SHOWN_FUNCTIONS]:
        print(f"  {share:6.1%}  {1e6 * share * in_process:7.0f} µs  {name}")
    print(flush=True)


def _part(seconds: float, whole: float) -> tuple[str, str]:
    return table.milliseconds(1000 * seconds), f"{seconds / whole:.1%}"
