# SPDX-License-Identifier: Apache-2.0

"""Writes docs/performance.md, with its pictures and all figures, from what `python -m bench run` has kept."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measuring.works import ABOUT
from bench.report import table
from bench.run import RESULTS
from bench.site.databases import KINDS
from bench.site.services import ROOT

HELP = "write docs/performance.md from the last runs"
PAGE = ROOT / "docs" / "performance.md"
NAMES = {"mariadb": "MariaDB", "postgresql": "PostgreSQL", "sqlite": "SQLite"}

INTRODUCTION = """\
# Performance

Plimsoll beside OpenStack Placement 16.0.0 (the reference), in one run, on one machine, on the same kind of database.
All figures on this page were measured by `make bench`; nothing is extrapolated. Only ratios within one run count: the
times themselves depend on the machine and what else it does.

This page is written by `python -m bench page` from what the last runs have kept.
"""

REPEAT = """\
## Measure it yourself

Leave the machine alone meanwhile: a run that begins on a busy one says so, and its figures mean little. You need Python 3.11, make, and the programs of MariaDB or PostgreSQL (`mariadbd`, `postgres`); a private server with
durable settings is started and removed.

```console
$ make bench                     # on MariaDB: all works, growth to 100,000 providers
$ make bench DB=postgresql
$ make bench DB=sqlite           # Plimsoll on its embedded database, the reference on MariaDB
$ make bench-quick               # the main ratios, briefly, held to a quarter of their goals
```

Each prints the tables of this page, marks what misses its goal, and fails if anything does. `.venv/bin/python -m bench run --help`
lists the options: `--only` for some works, `--server` for a database server of your own.

Where the time of a request goes, stage by stage:

```console
$ .venv/bin/python -m bench profile claims-1 flat-all --database mariadb
```
"""

METHOD = """\
## How it is measured

- Both services run with default settings and noauth2, write their log to a file, and have a database each on the same
  server, filled with the same rows. The reference has gunicorn with two gthread workers of ten threads and
  keep-alive; where it says *tuned*, also the settings that make it fast on wide trees
  (`optimize_for_wide_provider_trees`, `max_allocation_candidates=1000`, breadth-first).
- One client drives them: a raw socket that is kept open, requests prepared as bytes, answers read by their length, in a
  process of its own. Its cost is in the last table.
- They take turns, round by round, so that what else the machine does hits both.
- A time is the median over all requests of all rounds; beside it the 99th percentile. A rate is the median over rounds.
  A claim that the reference answers with a conflict is not counted as done.
- Who asks the same of a cloud in which nothing has changed is given the same answer again, as schedulers do that work
  side by side. What a search costs that nobody has asked for before is shown where it says *never the same*, and by
  the growth; in *select and claim* each claim changes the cloud.
- What is held of a provider is kept until it changes; what it costs to read it is shown where it says *not asked for
  lately*.
- *Ready-made*: the same HTTP server sends the same bytes from memory, with no work at all.

The worlds:

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="*", type=Path, help="files of results (those in var/bench)")


def main(arguments: argparse.Namespace) -> int:
    files = arguments.results or [RESULTS / f"{kind}.json" for kind in KINDS]
    results = [json.loads(file.read_text()) for file in files if file.exists()]
    if not results:
        print("There are no results yet: run `make bench` first.")
        return 1
    directory = PAGE.with_suffix("")
    # Only this page needs matplotlib, and a machine that measures may not have it.
    from bench.report.plots import draw_all

    drawn = draw_all(results, directory)
    for one in results:
        (directory / f"{one['database']}.json").write_text(json.dumps(one, indent=1) + "\n")
    PAGE.write_text(written(results, drawn))
    print(f"{PAGE.relative_to(ROOT)} and {len(drawn)} pictures are written.")
    return 0


def written(results: Sequence[Mapping[str, Any]], drawn: Sequence[str]) -> str:
    parts = [INTRODUCTION]
    parts += [_picture("ratios", "How many times as fast, by work and database", drawn)]
    parts += [_of_database(one) for one in results]
    parts += [
        _picture("times", "Times of both services", drawn),
        _picture("devices", "Requests for several devices", drawn),
        _picture("growth", "Growth from 1,000 to 100,000 providers", drawn),
    ]
    worlds = "\n".join(f"- *{name}*: {about}." for name, about in ABOUT.items())
    parts += [METHOD + worlds + "\n", REPEAT, _machine(results) if results else ""]
    return "\n".join(part for part in parts if part)


def _of_database(one: Mapping[str, Any]) -> str:
    reference = " (the reference on MariaDB)" if one["database"] == "sqlite" else ""
    tables = (
        table.works_table,
        table.limits_table,
        table.growth_table,
        table.growth_verdicts,
        table.client_table,
    )
    made = [make(one) for make in tables]
    missed = sum(not each["holds"] for each in one["verdicts"])
    verdict = "Every goal is reached." if not missed else f"{missed} goals are missed; they are marked."
    shown = "\n\n".join(table.as_markdown(header, lines) for header, lines in made if lines)
    raw = f"[all figures](performance/{one['database']}.json)"
    return f"## {NAMES[one['database']]}{reference}\n\n{verdict} Measured {one['when']}; {raw}.\n\n{shown}\n"


def _picture(name: str, words: str, drawn: Sequence[str]) -> str:
    return f"![{words}](performance/{name}.svg)\n" if name in drawn else ""


def _machine(results: Sequence[Mapping[str, Any]]) -> str:
    first = results[0]
    machine, versions = first["machine"], first["versions"]
    databases = sorted({name for one in results for name in one["versions"]["databases"]})
    lines = [
        ("processor", f"{machine['processor']}, {machine['cores']} cores"),
        ("memory", f"{machine['memory_gb']} GB"),
        ("used by others when it began", f"{first['used_by_others']:.0f} % of the processors"),
        ("disk", f"a write of 4 KB is durable after {table.milliseconds(machine['fsync_ms'])}"),
        ("system", f"{machine['system']}, Python {versions['Python']}"),
        ("databases", ", ".join(databases)),
        *((f"{side}: versions", _versions(versions[side])) for side in ("Plimsoll", "reference")),
        *((f"{side}: settings", words) for side, words in first["settings"].items()),
    ]
    return (
        "## The machine, the versions, the settings\n\n"
        + table.as_markdown(("", ""), lines).replace("---:", "---")
        + "\n"
    )


def _versions(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found.items())
