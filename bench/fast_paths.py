# SPDX-License-Identifier: Apache-2.0

"""Measure what each fast path gains: services with all of them, and services with one of them switched off.

Both run on databases with equal rows and alternate round by round. A gain is the speed with all fast paths divided by
the speed without the one. `--write` puts the table into docs/internals/fast-paths.md.

    python -m bench fast-paths --database mariadb --only multi_statement policy_cache
"""

from __future__ import annotations

import argparse
import ast
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from bench.client.driving import Clients
from bench.client.units import claims, reads, searches, selections
from bench.datasets.rows import Rows
from bench.measuring.rounds import FULL, Effort, ServerMeasurement, alternate, rate_ratios
from bench.measuring.workloads import (
    BUILDERS,
    FLAT,
    NESTED,
    consumer_reads,
    mixed_reads,
    provider_reads,
    with_varying_amount,
)
from bench.report.table import as_markdown, as_text
from bench.site.databases import KINDS, engines, is_missing
from bench.site.services import ROOT, Deployment, Plimsoll, PlimsollUnderGunicorn
from bench.site.site import Site
from plimsoll.fast_paths import NAMES

HELP = "measure what each fast path gains"
PAGE = ROOT / "docs" / "internals" / "fast-paths.md"
SOURCE = ROOT / "src" / "plimsoll"
BEGIN, END = "<!-- measured: {} -->", "<!-- end: {} -->"
SERVER = "http_server"
"""Our HTTP server. It has no switch: without it, another server runs the WSGI application."""
SEVERAL = 3
"""Services on one database, in the second half of the table."""


def _new_searches(target: str) -> Clients:
    return searches(with_varying_amount(target))


LOADS: Mapping[str, Callable[[Rows], Clients]] = {
    "reads": mixed_reads,
    "claims": claims,
    "selections": lambda _: selections(20),
    "searches": lambda _: _new_searches(f"{FLAT}&limit=10"),
    "all candidates": lambda _: _new_searches(FLAT),
    "equal searches": lambda _: reads([f"{FLAT}&limit=10"]),
    "nested searches": lambda _: _new_searches(f"{NESTED}&limit=10"),
    "nested, all": lambda _: _new_searches(NESTED),
    "allocations": provider_reads("/allocations"),
    "consumers": consumer_reads,
}
"""The requests of the clients of a work, by its title."""


@dataclass(frozen=True, slots=True)
class Work:
    title: str
    clients: int
    services: int
    dataset: str = "flat"
    workers: int = 1

    @property
    def column(self) -> str:
        several = (f", {self.services} services" if self.services > 1 else "") + (
            f", {self.workers} workers" if self.workers > 1 else ""
        )
        return f"{self.title}, {self.clients}{several}"


_DEPLOYED = attrgetter("dataset", "services", "workers")
"""What a work is measured on."""

WORKS = (
    *(Work(title, clients, 1) for title in ("reads", "claims", "selections") for clients in (1, 8)),
    *(Work(title, 8, SEVERAL) for title in ("reads", "claims", "selections")),
)
"""Measured for every fast path."""

OWN_WORKS: Mapping[str, tuple[Work, ...]] = {
    "shared_writer": (Work("claims", 8, 1, workers=2), Work("claims", 8, SEVERAL, workers=2)),
    "mysql_protocol": (Work("consumers", 1, 1, "busy"), Work("consumers", 8, 1, "busy")),
    "response_cache": (Work("equal searches", 8, 1),),
    "allocation_cache": (Work("allocations", 8, 1, "busy"),),
    "vectorised": (Work("nested searches", 8, 1, "nested"), Work("nested, all", 8, 1, "nested")),
    "shape_memo": (Work("nested searches", 8, 1, "nested"), Work("nested, all", 8, 1, "nested")),
    "json_cache": (Work("searches", 8, 1), Work("all candidates", 8, 1)),
}
"""The works for which single fast paths were made."""

CODE: Mapping[str, tuple[str, ...]] = {
    SERVER: ("server",),
    "mysql_protocol": ("storage/fast/mysql_protocol.py",),
    "multi_statement": ("storage/fast/multi_statement.py",),
    "optimistic_commit": (
        "ledger/commit.py:Committer._commit_optimistic",
        "ledger/commit.py:Committer._may_commit_optimistically",
        "ledger/commit.py:Committer._check_head_guard",
    ),
    "bulk_follow": (
        "domain/bulk_claims.py",
        "ledger/follow.py:_apply_in_bulk",
        "ledger/change_codec.py:are_claims",
        "ledger/change_codec.py:collect_claims",
    ),
    "shared_writer": ("server/forwarding.py", "server/forwarded_connection.py"),
    "response_cache": ("ledger/response_cache.py",),
    "allocation_cache": ("ledger/allocation_cache.py",),
    "policy_cache": ("access/policy.py:_RulesInForce",),
    "vectorised": ("search/combine/vectorised.py",),
    "shape_memo": ("search/combine/memo.py",),
    "json_cache": ("api/placement/views/json_cache.py",),
    "request_log": (
        "config/logging_setup.py:CachingFormatter",
        "http/middleware/request_log.py:_RequestRecord",
    ),
}
"""The code of each fast path: directories, modules, or classes and methods of a module."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--database", choices=KINDS, default="mariadb")
    parser.add_argument("--only", nargs="+", choices=(SERVER, *NAMES), help="some fast paths")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of each work, with and without")
    parser.add_argument("--seconds", type=float, default=0.6, help="length of a round")
    parser.add_argument(
        "--write", action="store_true", help="write the table into docs/internals/fast-paths.md"
    )


def main(arguments: argparse.Namespace) -> int:
    if is_missing(arguments.database):
        return 2
    effort = replace(FULL, rounds=arguments.rounds, our_seconds=arguments.seconds)
    names = arguments.only or (SERVER, *NAMES)
    lines: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory(prefix="plimsoll-fast-paths-") as temporary:
        directory = Path(temporary)
        with engines(arguments.database, None, directory) as (_, ours):
            site = Site(ours, ours, directory)
            for name in names:
                gains = dict(_gains(site, name, effort))
                common = [f"{gains[work]:.2f}" for work in WORKS]
                own = ", ".join(f"{work.column}: {gains[work]:.2f}" for work in OWN_WORKS.get(name, ()))
                lines.append((name, str(count_lines(CODE[name])), *common, own))
    header = ("fast path", "lines", *(work.column for work in WORKS), "its own work")
    print(as_text(header, lines))
    if arguments.write:
        _write(arguments.database, as_markdown(header, lines))
    return 0


def _gains(site: Site, name: str, effort: Effort) -> Iterator[tuple[Work, float]]:
    works = (*WORKS, *OWN_WORKS.get(name, ()))
    for dataset, services, workers in dict.fromkeys(map(_DEPLOYED, works)):
        rows = BUILDERS[dataset]()
        kind = PlimsollUnderGunicorn if name == SERVER else Plimsoll
        settings = {} if name == SERVER else {"OS_PLIMSOLL__DISABLE_FAST_PATHS": name}
        with (
            site.deployment(f"{dataset}_with", rows, services, workers=workers) as fast,
            site.deployment(f"{dataset}_without", rows, services, kind, settings, workers=workers) as plain,
        ):
            for work in works:
                if _DEPLOYED(work) == (dataset, services, workers):
                    gain = _gain(work, fast, plain, rows, effort)
                    print(f"{name}: {work.column}: {gain:.2f}", file=sys.stderr, flush=True)
                    yield work, gain


def _gain(work: Work, fast: Deployment, plain: Deployment, rows: Rows, effort: Effort) -> float:
    clients, length = LOADS[work.title](rows), effort.round_length(is_reference=False)
    measurements = [
        ServerMeasurement("with", fast, clients, length),
        ServerMeasurement("without", plain, clients, length),
    ]
    alternate(measurements, work.clients, effort.rounds)
    return statistics.median(rate_ratios(work.column, *measurements))


def count_lines(code: Sequence[str]) -> int:
    """Return the number of lines of directories, modules, and single classes or methods."""
    return sum(_lines_of(each) for each in code)


def _lines_of(code: str) -> int:
    path, _, qualified_name = code.partition(":")
    files = sorted((SOURCE / path).rglob("*.py")) if not path.endswith(".py") else [SOURCE / path]
    if not qualified_name:
        return sum(len(file.read_text().splitlines()) for file in files)
    node: ast.AST = ast.parse(files[0].read_text())
    for name in qualified_name.split("."):
        node = next(child for child in ast.iter_child_nodes(node) if getattr(child, "name", None) == name)
    assert isinstance(node, ast.ClassDef | ast.FunctionDef)
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def _write(database: str, table: str) -> None:
    """Replace the table of this database in the page."""
    begin, end = BEGIN.format(database), END.format(database)
    before, _, rest = PAGE.read_text().partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n{table}\n{end}{after}")
