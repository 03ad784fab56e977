# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.simulation`: run seeds, or plant mistakes and find them.

Prints the number of seeds per minute and what the runs have exercised. A seed that violates a rule is shrunk, and its
schedule is printed. The exit status is 0 only if every seed holds, or every mistake is found.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections import Counter

from tests.simulation.mutations import MUTATIONS, Mutation
from tests.simulation.shrink import shrink
from tests.simulation.simulation import Outcome, Simulator

PROGRESS_SEEDS = 1_000
MUTATION_SECONDS = 60.0
SHOWN_LINES = 150


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2_000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first of them")
    parser.add_argument("--show", type=int, metavar="SEED", help="print what happens in one run")
    parser.add_argument(
        "--mutations",
        nargs="?",
        const="",
        metavar="WORDS",
        help="plant mistakes in the ledger and find each within a minute of processor time; WORDS selects some",
    )
    parser.add_argument("--shrink-seconds", type=float, default=60.0, help="processor time for shrinking")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    with Simulator() as simulator:
        if options.show is not None:
            outcome = simulator.run(options.show, traced=True)
            print(f"{outcome.plan}\n\n" + "\n".join(outcome.trace))
            return 0 if outcome.violation is None else 1
        if options.mutations is not None:
            chosen = [each for each in MUTATIONS if options.mutations in each.name]
            found = [_find(simulator, each, options.first) for each in chosen]
            print(f"{sum(found)} of {len(found)} planted mistakes found")
            return 0 if all(found) else 1
        return _run_seeds(simulator, options)


def _run_seeds(simulator: Simulator, options: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    began, processor_began = time.monotonic(), time.process_time()
    done = 0
    failed: Outcome | None = None
    for seed in range(options.first, options.first + options.seeds):
        outcome = simulator.run(seed)
        done += 1
        counts += outcome.counts
        counts["scheduling points"] += outcome.steps
        if outcome.violation is not None:
            failed = outcome
            break
        if done % PROGRESS_SEEDS == 0:
            print(f"{done} seeds, {time.monotonic() - began:.0f} s", flush=True)
    processor = time.process_time() - processor_began
    for name, count in sorted(counts.items()):
        print(f"{count:10,}  {name}")
    print(
        f"{done:,} seeds in {time.monotonic() - began:.0f} s, {done / processor * 60:,.0f} per minute of"
        " processor time"
    )
    if failed is None:
        return 0
    _show(failed, "FAILS")
    print("\nshrinking ...", flush=True)
    smaller = shrink(simulator, failed, options.shrink_seconds)
    _show(smaller, f"shrunk to {len(smaller.taken)} decisions")
    return 1


def _show(outcome: Outcome, title: str) -> None:
    print(f"\nseed {outcome.seed} {title}: {outcome.violation}")
    if outcome.violation is not None and outcome.violation.__cause__ is not None:
        traceback.print_exception(outcome.violation.__cause__, file=sys.stdout)
    print(f"\n{outcome.plan}\n\n" + "\n".join(outcome.trace[-SHOWN_LINES:]))


def _find(simulator: Simulator, mutation: Mutation, first: int) -> bool:
    began = time.process_time()
    seed = first
    with mutation.planted():
        while time.process_time() - began < MUTATION_SECONDS:
            outcome = simulator.run(seed)
            seed += 1
            if outcome.violation is not None:
                seconds = time.process_time() - began
                print(f"found after {seed - first:5} seeds, {seconds:4.1f} s: {mutation.name}", flush=True)
                print(f"      {outcome.violation}")
                return True
    print(f"NOT FOUND in {seed - first} seeds: {mutation.name}", flush=True)
    return False


if __name__ == "__main__":
    if "PYTHONHASHSEED" not in os.environ:  # the order of sets must be the same when a seed is repeated
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.simulation", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    sys.exit(main())
