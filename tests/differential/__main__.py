# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.differential`: compare Plimsoll with the reference over many random requests.

Prints every difference with its request and both responses, a line for each seed, and at the end
`N passed, M failed`, counting requests. The exit status is 0 when nothing differed.
"""

import argparse
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.conformance import sites
from tests.differential import sabotage
from tests.differential.report import ReportOptions, Summary
from tests.differential.run import Settings, create_templates
from tests.differential.seeds import run_seed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds to run, from 1 on")
    parser.add_argument(
        "--seed", type=int, action="append", help="run this seed (repeatable) instead of --seeds"
    )
    parser.add_argument(
        "--requests", type=int, default=1000, help="requests per seed, after its initial data is created"
    )
    parser.add_argument("--database", choices=sites.ENGINES, default="sqlite")
    parser.add_argument("--against", choices=("plimsoll", "reference"), default="plimsoll")
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        help="worker processes of Plimsoll; requests are sent to all of them",
    )
    parser.add_argument(
        "--sabotage", choices=sabotage.KINDS, help="corrupt responses or state: the run must fail"
    )
    parser.add_argument("--strict", action="store_true", help="count different wording as a failure too")
    parser.add_argument("--wording", action="store_true", help="print each difference of wording")
    parser.add_argument("--coverage", action="store_true", help="print the count of each kind and status")
    parser.add_argument("--keep", action="store_true", help="keep the logs, and the files of SQLite")
    parser.add_argument("--minimise", action="store_true", help="shorten the first difference of each seed")
    parser.add_argument("--jobs", type=int, default=2, help="seeds to run at the same time")
    parser.add_argument(
        "--most", type=int, default=20, help="maximum number of differences to print per seed"
    )
    return parser.parse_args()


def report_options(options: argparse.Namespace) -> ReportOptions:
    return ReportOptions(options.most, options.wording, options.minimise, options.keep)


def main() -> int:
    options = arguments()
    scratch = sites.scratch_directory("plimsoll-differential")
    try:
        summary = run(options, scratch)
    finally:
        if options.keep:
            print(f"databases and logs are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(summary.text(options.coverage))
    failed = summary.different + (summary.worded if options.strict else 0)
    print(f"{summary.compared - failed} passed, {failed} failed")
    return 1 if failed else 0


def run(options: argparse.Namespace, scratch: Path) -> Summary:
    """Run all seeds in a process pool and print each result as it ends."""
    seeds = options.seed or list(range(1, options.seeds + 1))
    summary = Summary()
    with sites.opened(options.database, scratch) as site:
        settings = Settings(
            site, options.requests, options.against, options.workers, options.sabotage, options.keep
        )
        create_templates(settings, scratch)
        task = partial(run_seed, settings=settings, options=report_options(options), scratch=scratch)
        with ProcessPoolExecutor(options.jobs) as pool:
            for tally, text in pool.map(task, seeds):
                print(text, flush=True)
                summary.add(tally)
    return summary


if __name__ == "__main__":
    sys.exit(main())
