# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.differential`: compare Plimsoll with the reference over many random requests.

Prints every difference with its request and both answers, a line for each seed, and at the end
`N passed, M failed`, counting requests. The exit status is 0 when nothing differed.
"""

import argparse
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.differential import sabotage
from tests.differential.report import Summary, Wanted
from tests.differential.run import Settings
from tests.differential.seeds import run_seed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds to run, from 1 on")
    parser.add_argument(
        "--seed", type=int, action="append", help="run this seed (repeatable) instead of --seeds"
    )
    parser.add_argument(
        "--requests", type=int, default=1000, help="requests per seed, after its world is built"
    )
    parser.add_argument("--against", choices=("plimsoll", "reference"), default="plimsoll")
    parser.add_argument(
        "--workers", type=int, default=1, help="worker processes of Plimsoll, all of them asked"
    )
    parser.add_argument("--sabotage", choices=sabotage.WAYS, help="spoil answers or state: the run must fail")
    parser.add_argument("--strict", action="store_true", help="count different wording as a failure too")
    parser.add_argument("--wording", action="store_true", help="print each difference of wording")
    parser.add_argument("--coverage", action="store_true", help="print how often each kind had each status")
    parser.add_argument("--keep", action="store_true", help="keep the databases and logs")
    parser.add_argument("--minimise", action="store_true", help="shorten the first difference of each seed")
    parser.add_argument("--jobs", type=int, default=2, help="seeds to run at the same time")
    parser.add_argument("--most", type=int, default=20, help="print at most so many differences of a seed")
    return parser.parse_args()


def wanted(options: argparse.Namespace) -> Wanted:
    return Wanted(options.most, options.wording, options.minimise, options.keep)


def main() -> int:
    options = arguments()
    seeds = options.seed or list(range(1, options.seeds + 1))
    scratch = scratch_directory()
    settings = Settings(options.requests, options.against, options.workers, options.sabotage)
    task = partial(run_seed, settings=settings, wanted=wanted(options), scratch=scratch)
    summary = Summary()
    try:
        with ProcessPoolExecutor(options.jobs) as pool:
            for tally, text in pool.map(task, seeds):
                print(text, flush=True)
                summary.add(tally)
    finally:
        if options.keep:
            print(f"databases and logs are in {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    print(summary.text(options.coverage))
    failed = summary.different + (summary.worded if options.strict else 0)
    print(f"{summary.compared - failed} passed, {failed} failed")
    return 1 if failed else 0


def scratch_directory() -> Path:
    """Databases live in memory where that is possible: two services commit for every write."""
    shared_memory = Path("/dev/shm")
    return Path(
        tempfile.mkdtemp(
            prefix="plimsoll-differential-", dir=shared_memory if shared_memory.is_dir() else None
        )
    )


if __name__ == "__main__":
    sys.exit(main())
