# SPDX-License-Identifier: Apache-2.0

"""Write docs/performance.md with its plots and tables from the stored results of `python -m bench run`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measuring.workloads import DESCRIPTIONS
from bench.report import deployed, table
from bench.run import RESULTS
from bench.site.databases import KINDS
from bench.site.services import ROOT

HELP = "write docs/performance.md from the last runs"
PAGE = ROOT / "docs" / "performance.md"
NAMES = {"mariadb": "MariaDB", "postgresql": "PostgreSQL", "sqlite": "SQLite"}

INTRODUCTION = """\
# Performance

Plimsoll compared with OpenStack Placement 16.0.0 (the reference), in one run, on one machine, on the same kind of database.
All figures were measured by `make bench`; nothing is extrapolated. This page is written by `python -m bench page` from
the results of the last runs.

How to read the tables:

- **Requests.** Each line is one kind of work. *Reference* and *Plimsoll* have the median time of a request, or the requests
  per second where several clients work at the same time; *p99* is the time that one request in a hundred exceeds.
- **Ratio** is what counts: how many times as fast Plimsoll was in this run. Times depend on the machine and its
  other load, which both services had alike.
- **Goal** is a floor: with a lower ratio `make bench` fails. Above it, simpler code is preferred to faster code. Lines without a
  goal are shown for completeness.
- **Responses.** The second table compares searches with the same bytes sent by the same HTTP server without any work. It shows how much
  is left to gain: a response may take at most 3.5 times as long.
- **Growth.** The third and fourth tables show that searches and claims take the same time with 100,000 providers as with 1,000, and
  how much memory a worker needs.
- **Deployed.** Several services on one database, SERVICES x WORKERS, with eight clients that are processes of their own. *Services*, *database* and
  *clients* are the processor times per unit of work; two processors carry all of them here, so their sum limits the rate: with more
  processors it is at most their number divided by this sum, until the lock of the head is held all the time (*head held*, an upper bound, because it
  includes the wake-ups of the processes). *Per commit* counts the claims of one transaction, *followed* the changes of other
  processes that were applied per unit of work.
- **The client.** The last table has the cost of the measuring client itself, which is part of all times above.

A single client waits for two changes of process per request, its own and that of the database, which is most of a read. Eight clients
overlap these waits: they get more than twice as many reads.
"""

REPEAT = """\
## Measure it yourself

Run nothing else meanwhile: a run that begins on a busy machine prints a warning, and its figures are not reliable. You need Python 3.11, make, and the programs of MariaDB or PostgreSQL (`mariadbd`, `postgres`); a private server with
durable settings is started and removed.

```console
$ make bench                     # on MariaDB: all works, growth to 100,000 providers
$ make bench DB=postgresql
$ make bench DB=sqlite           # Plimsoll on its embedded database, the reference on MariaDB
$ make bench-quick               # the main ratios, short, compared with a quarter of their goals
```

Each prints the tables of this page, marks missed goals, and fails if there are any. `.venv/bin/python -m bench run --help`
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
  keep-alive; rows marked *tuned* add the settings that make it fast on wide trees
  (`optimize_for_wide_provider_trees`, `max_allocation_candidates=1000`, breadth-first).
- One client measures both: a keep-alive raw socket, requests prepared as bytes, responses read by their length, in its
  own process. Its cost is in the last table.
- The services alternate round by round, so that other load on the machine affects both.
- A time is the median over all requests of all rounds; beside it the 99th percentile. A rate is the median over rounds.
  A claim that the reference refuses with a conflict is not counted.
- A repeated search on an unchanged cloud gets a cached response, as with several schedulers that send equal requests.
  Rows marked *never the same*, and the growth, show the cost of searches that are not cached; in *select and claim*
  each claim changes the cloud.
- The allocations of a provider are cached until it changes; rows marked *not asked for lately* show the cost of reading
  them.
- *Ready-made*: the same HTTP server sends the same bytes from memory without any processing.

The datasets:

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="*", type=Path, help="result files (default: those in var/bench)")


def main(arguments: argparse.Namespace) -> int:
    files = arguments.results or [RESULTS / f"{kind}.json" for kind in KINDS]
    results = [json.loads(file.read_text()) for file in files if file.exists()]
    if not results:
        print("There are no results yet: run `make bench` first.")
        return 1
    directory = PAGE.with_suffix("")
    # Imported here: only this command needs matplotlib, which may not be installed.
    from bench.report.plots import draw_all

    drawn = draw_all(results, directory)
    for result in results:
        file = RESULTS / f"deployed-{result['database']}.json"
        result["deployed"] = json.loads(file.read_text()) if file.exists() else None
    PAGE.write_text(page_text(results, drawn))
    print(f"{PAGE.relative_to(ROOT)} and {len(drawn)} pictures are written.")
    return 0


def page_text(results: Sequence[Mapping[str, Any]], drawn: Sequence[str]) -> str:
    parts = [INTRODUCTION]
    parts += [_picture("ratios", "How many times as fast, by work and database", drawn)]
    parts += [_of_database(result) for result in results]
    parts += [
        _picture("times", "Times of both services", drawn),
        _picture("devices", "Requests for several devices", drawn),
        _picture("growth", "Growth from 1,000 to 100,000 providers", drawn),
    ]
    datasets = "\n".join(f"- *{name}*: {about}." for name, about in DESCRIPTIONS.items())
    parts += [METHOD + datasets + "\n", REPEAT, _machine(results) if results else ""]
    return "\n".join(part for part in parts if part)


def _of_database(result: Mapping[str, Any]) -> str:
    reference = " (the reference on MariaDB)" if result["database"] == "sqlite" else ""
    tables = (
        table.works_table,
        table.limits_table,
        table.growth_table,
        table.growth_verdicts,
        table.client_table,
    )
    rendered = [make(result) for make in tables]
    missed = sum(not each["holds"] for each in result["verdicts"])
    verdict = _verdict(missed)
    shown = "\n\n".join(table.as_markdown(header, lines) for header, lines in rendered if lines)
    several = "" if result.get("deployed") is None else _deployed(result["deployed"])
    return f"## {NAMES[result['database']]}{reference}\n\n{verdict} Measured {result['when']}.\n\n{shown}\n{several}"


def _verdict(missed: int) -> str:
    if not missed:
        return "Every goal is reached."
    return (
        "1 goal is missed; it is marked." if missed == 1 else f"{missed} goals are missed; they are marked."
    )


def _deployed(results: Mapping[str, Any]) -> str:
    missed = "".join(f"\n- missed: {each}" for each in deployed.missed_goals(results))
    return (
        f"\n### Deployed\n\nMeasured {results['when']}, while other programs used {results['used_by_others']:.0f} % of the"
        f" processors.\n\n{table.as_markdown(*deployed.deployed_table(results))}\n\n"
        f"{deployed.follow_sentence(results)}\n{missed}\n\n"
        "Claims per second that these processor times permit on machines with more processors:\n\n"
        f"{table.as_markdown(*deployed.model_table(results))}\n"
    )


def _picture(name: str, alternative_text: str, drawn: Sequence[str]) -> str:
    return f"![{alternative_text}](performance/{name}.svg)\n" if name in drawn else ""


def _machine(results: Sequence[Mapping[str, Any]]) -> str:
    first = results[0]
    machine, versions = first["machine"], first["versions"]
    databases = sorted({name for result in results for name in result["versions"]["databases"]})
    lines = [
        ("processor", f"{machine['processor']}, {machine['cores']} cores"),
        ("memory", f"{machine['memory_gb']} GB"),
        ("used by others when it began", f"{first['used_by_others']:.0f} % of the processors"),
        ("disk", f"a write of 4 KB is durable after {table.milliseconds(machine['fsync_ms'])}"),
        ("system", f"{machine['system']}, Python {versions['Python']}"),
        ("databases", ", ".join(databases)),
        *((f"{side}: versions", _versions(versions[side])) for side in ("Plimsoll", "reference")),
        *((f"{side}: settings", text) for side, text in first["settings"].items()),
    ]
    return (
        "## The machine, the versions, the settings\n\n"
        + table.as_markdown(("", ""), lines).replace("---:", "---")
        + "\n"
    )


def _versions(found: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found.items())
