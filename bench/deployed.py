# SPDX-License-Identifier: Apache-2.0

"""Measure services as they are deployed: several on one database, with several workers each, and clients as processes.

A layout is SERVICES x WORKERS; with `-backup` all clients use the first service, the others only stand by. Each layout has a database of its own on the same server; layouts alternate round by round.
With `--reference`, the reference is deployed alike, with ten threads per worker. Then the processor time of a service that
only follows is measured, per claim that is made at another service. The exit status is 0 only if every goal is reached.

    python -m bench deployed --database mariadb --layout 1x1 3x1 --seconds 5
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from bench.client.driving import Clients, Round, Unit
from bench.client.http import Connection, request
from bench.client.processes import Phase, drive_processes
from bench.client.units import claims, mix, paced, reads, selections
from bench.datasets.rows import Rows
from bench.measuring.machine import cpu_used_by_others
from bench.measuring.rounds import quantile
from bench.measuring.workloads import BUILDERS, mixed_reads
from bench.report.deployed import deployed_table, follow_sentence, missed_goals, model_table
from bench.report.table import as_text
from bench.run import RESULTS
from bench.site.databases import KINDS, engines, is_missing
from bench.site.services import Deployment, Plimsoll, Reference, Service, processor_seconds_of
from bench.site.site import Site

HELP = "measure several services on one database"
BACKUP = "-backup"
LAYOUTS = "1x1", "1x2", "3x1", "3x2", f"3x1{BACKUP}"
CLIENTS = 8
FOLLOWER_READS, CLAIMING_CLIENTS = 20, 4
"""Reads per second at the service that only follows, and clients that claim at the other one."""

WORKS: Mapping[str, Callable[[Rows], Clients]] = {
    "claims": claims,
    "selections": lambda _: selections(20),
    "mix": mix,
    "reads": mixed_reads,
}


@dataclass(frozen=True, slots=True)
class Sample:
    """Sums since the start: processor seconds of the services and of the database, and metrics of all services."""

    services: float
    database: float
    metrics: Mapping[str, float]


@dataclass(slots=True)
class Measured:
    """One deployment and its rounds, by work."""

    layout: str
    deployment: Deployment
    is_reference: bool = False
    phases: dict[str, list[Phase[Sample]]] = field(default_factory=dict)

    @property
    def ports(self) -> Sequence[int]:
        """The ports that the clients use."""
        ports = self.deployment.ports
        return ports[:1] if self.layout.endswith(BACKUP) else ports


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", choices=[kind for kind in KINDS if kind != "sqlite"], default="mariadb")
    parser.add_argument(
        "--layout", nargs="+", default=LAYOUTS, help="services x workers, perhaps with -backup"
    )
    parser.add_argument("--work", nargs="+", choices=tuple(WORKS), default=tuple(WORKS))
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5, help="length of a round")
    parser.add_argument("--reference", action="store_true", help="deploy the reference alike")
    parser.add_argument("--no-follower", action="store_true", help="do not measure the cost of following")
    parser.add_argument("--results", type=Path, help="where the JSON goes")


def main(arguments: argparse.Namespace) -> int:
    if is_missing(arguments.database):
        return 2
    rows, others = BUILDERS["flat"](), cpu_used_by_others()
    with tempfile.TemporaryDirectory(prefix="plimsoll-deployed-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, None, directory) as (_, ours):
            site = Site(ours, ours, directory)
            with ExitStack() as stack:
                measured = list(_deploy(site, arguments, rows, stack))
                for number in range(arguments.rounds):
                    _run_round(measured if number % 2 == 0 else measured[::-1], arguments, rows)
            follow = None if arguments.no_follower else _follow_cost(site, rows, arguments.seconds)
    results = {
        "database": arguments.database,
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "used_by_others": others,
        "clients": arguments.clients,
        "lines": list(_figures(measured)),
        "follow": follow,
    }
    print(as_text(*deployed_table(results)))
    print(follow_sentence(results))
    if "claims" in arguments.work:
        print("\nClaims per second that these processor times permit:")
        print(as_text(*model_table(results)))
    path = arguments.results or RESULTS / f"deployed-{arguments.database}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")
    missed = missed_goals(results)
    print("\n".join(missed) if missed else "Every goal is reached.")
    return 1 if missed else 0


def _deploy(site: Site, arguments: argparse.Namespace, rows: Rows, stack: ExitStack) -> Iterator[Measured]:
    for layout in arguments.layout:
        services, workers = map(int, layout.removesuffix(BACKUP).split("x"))
        kinds: list[type[Service]] = [Plimsoll, *([Reference] if arguments.reference else [])]
        for kind in kinds:
            label = f"{kind.__name__.lower()}_{layout}".replace("-", "_")
            deployment = stack.enter_context(site.deployment(label, rows, services, kind, workers=workers))
            yield Measured(layout, deployment, kind is Reference)


def _run_round(measured: Sequence[Measured], arguments: argparse.Namespace, rows: Rows) -> None:
    for work in arguments.work:
        for each in measured:
            phase = drive_processes(
                each.ports,
                WORKS[work](rows),
                arguments.clients,
                arguments.seconds,
                partial(_sample, each.deployment, with_metrics=not each.is_reference),
            )
            each.phases.setdefault(work, []).append(phase)
            rate = sum(one.rate for one in phase.rounds)
            print(f"{each.layout} {work}: {rate:,.0f}/s", file=sys.stderr, flush=True)


def _sample(deployment: Deployment, *, with_metrics: bool = True) -> Sample:
    metrics: dict[str, float] = {}
    for port in deployment.ports if with_metrics else ():
        for name, value in _metrics(port):
            metrics[name] = metrics.get(name, 0.0) + value
    return Sample(deployment.processor_seconds(), _database_seconds(), metrics)


def _metrics(port: int) -> Iterator[tuple[str, float]]:
    """Yield the sums of the metrics of a service, over their labels."""
    connection = Connection(port)
    try:
        body = bytes(connection.call(request("GET", "/metrics")).body).decode()
    finally:
        connection.close()
    for line in body.splitlines():
        if not line.startswith("#") and "_bucket" not in line:
            name, _, value = line.rpartition(" ")
            yield name.partition("{")[0], float(value)


def _database_seconds() -> float:
    """Return the processor time of the database servers that this process has started."""
    children = psutil.Process().children(recursive=True)
    return sum(processor_seconds_of(each) for each in children if each.name() in ("mariadbd", "postgres"))


def _figures(measured: Sequence[Measured]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each work and layout, the reference included: times in milliseconds, costs in microseconds."""
    for work in measured[0].phases:
        first = _rate(measured[0].phases[work])
        references = {each.layout: _rate(each.phases[work]) for each in measured if each.is_reference}
        for each in measured:
            phases = each.phases[work]
            rate, reference = _rate(phases), references.get(each.layout)
            yield {
                "layout": each.layout,
                "work": work,
                "is_reference": each.is_reference,
                "rate": rate,
                "of_first": rate / first,
                "of_reference": rate / reference if reference else None,
                **_costs(phases),
            }


def _rate(phases: Sequence[Phase[Sample]]) -> float:
    return statistics.median(sum(one.rate for one in phase.rounds) for phase in phases)


def _costs(phases: Sequence[Phase[Sample]]) -> dict[str, float | None]:
    rounds: list[Round] = [one for phase in phases for one in phase.rounds]
    times = sorted(nanoseconds / 1e6 for one in rounds for nanoseconds in one.nanoseconds)
    units = max(1, len(times))
    seconds = sum(phase.rounds[0].seconds for phase in phases)
    counts = [[len(one.nanoseconds) for one in phase.rounds] for phase in phases]

    def increase(name: str) -> float:
        return sum(phase.after.metrics.get(name, 0) - phase.before.metrics.get(name, 0) for phase in phases)

    services = sum(phase.after.services - phase.before.services for phase in phases)
    database = sum(phase.after.database - phase.before.database for phase in phases)
    commits = increase("plimsoll_batch_commands_count")
    return {
        "services_us": 1e6 * services / units,
        "database_us": 1e6 * database / units,
        "clients_us": 1e6 * sum(one.client_seconds for one in rounds) / units,
        "p50_ms": statistics.median(times) if times else None,
        "p99_ms": quantile(times, 0.99) if times else None,
        "fairness": min(min(each) / max(1, *each) for each in counts),
        "head_held": increase("plimsoll_head_held_seconds_sum") / seconds if commits else None,
        "per_commit": increase("plimsoll_batch_commands_sum") / commits if commits else None,
        "followed": increase("plimsoll_followed_changes_total") / units if commits else None,
    }


def _follow_cost(site: Site, rows: Rows, seconds: float) -> dict[str, float]:
    """Return the processor time of a service per claim that is made at another service and that it follows.

    It has a client that reads at a steady pace. The processor time of these reads is measured without claims first.
    """
    reader = paced(reads([f"/resource_providers/{rows.providers[0]}"]), FOLLOWER_READS)
    with site.deployment("follow", rows, 2) as deployment:
        claiming, following = deployment.services

        def clients(number: int) -> Iterator[Unit]:
            return (claims(rows) if number else reader)(number)

        def sample() -> tuple[float, float, float]:
            metrics = dict(_metrics(following.port))
            changes, times = (
                metrics[f"plimsoll_{name}"] for name in ("followed_changes_total", "follow_seconds_count")
            )
            return following.processor_seconds(), changes, times

        ports = (following.port, *[claiming.port] * CLAIMING_CLIENTS)
        quiet = drive_processes(ports, clients, 1, seconds, sample)
        busy = drive_processes(ports, clients, len(ports), seconds, sample)
    used, changes, times = (after - before for before, after in zip(busy.before, busy.after, strict=True))
    used -= quiet.after[0] - quiet.before[0]
    return {"us": 1e6 * used / max(1.0, changes), "per_read": changes / max(1.0, times)}
