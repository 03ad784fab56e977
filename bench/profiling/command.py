# SPDX-License-Identifier: Apache-2.0

"""Tells where the time of a request goes: for each work the share of every stage, and the functions that cost most.

The application is called in this process, without HTTP; what the HTTP server and the client add is the difference to
the same work measured over HTTP.
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

from bench.client.driving import Clients, Extent, Unit, drive
from bench.measuring.works import BUILDERS, WORKS, Work
from bench.profiling.inprocess import InProcess
from bench.profiling.sampling import sampled
from bench.profiling.stages import HARNESS, STAGES, classified
from bench.report import table
from bench.site.databases import KINDS, engines
from bench.site.services import Plimsoll
from bench.site.site import Site

HELP = "tell where the time of a request goes"
DEFAULT = ("claims-1", "flat-all", "flat-10", "nested-all", "devices-4", "get-provider")
WARM = 50
COSTS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("works", nargs="*", default=DEFAULT, help="keys of works (all: %(default)s)")
    parser.add_argument("--database", choices=KINDS, default="sqlite")
    parser.add_argument("--server", help="the URL of a database server to use instead of a private one")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to look at each")


def main(arguments: argparse.Namespace) -> int:
    wanted = arguments.works
    works = [work for work in WORKS if work.key in wanted]
    unknown = set(wanted) - {work.key for work in works}
    if unknown:
        print(
            f"No such work: {', '.join(sorted(unknown))}. There are: {', '.join(work.key for work in WORKS)}"
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as directory:
        place = Path(directory)
        with engines(arguments.database, arguments.server, place) as (theirs, ours):
            site = Site(theirs, ours, place)
            for world in dict.fromkeys(work.world for work in works):
                _profile(site, world, [work for work in works if work.world == world], arguments.seconds)
    return 0


def _profile(site: Site, world: str, works: list[Work], seconds: float) -> None:
    rows = BUILDERS[world]()
    with site.plimsoll(world, rows) as service:
        service.start()
        over_http = {
            work.key: statistics.median(
                drive(
                    service.port, work.clients(rows), 1, Extent(seconds / 3, least=20, warm=WARM)
                ).nanoseconds
            )
            for work in works
        }
        service.stop()
        application = _application(service)
        for work in works:
            _print(work, over_http[work.key] / 1e9, *_sample(application, work.clients(rows), seconds))


def _application(service: Plimsoll) -> InProcess:
    """The application in this process, with the settings of a service; it logs as the service does."""
    from plimsoll.bootstrap import make_application
    from plimsoll.config import loader, logging_setup

    with service.settings_applied():
        conf = loader.load([])
        logging_setup.set_up(conf)
        return InProcess(make_application(conf))


def _sample(
    application: InProcess, clients: Clients, seconds: float
) -> tuple[float, dict[str, float], dict[str, float]]:
    """The median time of a unit, and shares of it by stage and by function."""
    units = clients(0)
    for _ in range(WARM):
        application.do(next(units))
    times = list(_timed(application, units, seconds))
    with sampled(classified) as found:
        for _ in _timed(application, units, seconds):
            pass
    stages: dict[str, float] = defaultdict(float)
    functions: dict[str, float] = defaultdict(float)
    for (stage, function), spent in found.items():
        if stage != HARNESS:
            stages[stage] += spent
            functions[f"{stage:22} {function}"] += spent
    total = sum(stages.values())
    return statistics.median(times), _shares(stages, total), _shares(functions, total)


def _timed(application: InProcess, units: Iterator[Unit], seconds: float) -> Iterator[float]:
    until = time.perf_counter() + seconds
    while True:
        unit = next(units)
        begun = time.perf_counter()
        application.do(unit)
        ended = time.perf_counter()
        yield ended - begun
        if ended > until:
            return


def _shares(seconds: Mapping[str, float], total: float) -> dict[str, float]:
    return {name: spent / total for name, spent in seconds.items()}


def _print(
    work: Work, over_http: float, inside: float, stages: Mapping[str, float], functions: Mapping[str, float]
) -> None:
    # Measured at two times: on a busy machine the difference may drown in what else there is to do.
    around = _part(over_http - inside, over_http) if over_http > inside else ("too noisy", "")
    lines = [("HTTP server, kernel, client", *around)]
    lines += [
        (stage, *_part(stages[stage] * inside, over_http)) for stage in STAGES if stages.get(stage, 0) > 0.002
    ]
    lines.append(("all, over HTTP", *_part(over_http, over_http)))
    print(table.as_text((work.title, "time", "share"), lines))
    print("\nWhat costs most inside:")
    for name, share in sorted(functions.items(), key=itemgetter(1), reverse=True)[:COSTS]:
        print(f"  {share:6.1%}  {1e6 * share * inside:7.0f} µs  {name}")
    print(flush=True)


def _part(seconds: float, whole: float) -> tuple[str, str]:
    return table.milliseconds(1000 * seconds), f"{seconds / whole:.1%}"
