# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.attacks.fuzz --seed N --requests M --database ENGINE`: mutated requests, checked.

Exits with 1 if a response, the log, the worker or the state is wrong. `--only NUMBER` sends one request again and prints
its response.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.attacks.fuzz.requests import Generations, fuzzed
from tests.attacks.fuzz.run import Result, build, rate, run, slices
from tests.attacks.target import Target
from tests.support.databases import ENGINES, databases_of

SLICE = 10_000
"""Requests after which the state is verified."""


def main() -> int:
    options = _options()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-fuzz-") as directory,
        databases_of(options.database) as databases,
        databases.fresh() as url,
        Target(Path(directory), url, {"OS_PLIMSOLL__VERIFY_INTERVAL": "3"}) as target,
    ):
        build(target)
        if options.only is not None:
            return _repeat(target, options.seed, options.only)
        return _run(target, options)


def _run(target: Target, options: argparse.Namespace) -> int:
    total, begun = Result(), time.monotonic()
    for numbers in slices(options.requests, SLICE):
        result = run(target, options.seed, numbers)
        total.statuses += result.statuses
        for each in (*result.failures, *result.problems):
            print(each, flush=True)
        if result.unavailable:
            print("requests with a 503:", *result.unavailable)
        sent = sum(total.statuses.values())
        print(f"{sent} requests on {options.database}, seed {options.seed}, {rate(sent, begun)}", flush=True)
        if not result.is_good:
            return 1
    print("responses:", ", ".join(f"{count} x {status}" for status, count in sorted(total.statuses.items())))
    print("no unexpected error, no traceback, the same worker, state equal to SQL")
    return 0


def _repeat(target: Target, seed: int, number: int) -> int:
    each = fuzzed(seed, number)
    content = Generations().fill_in(each.content)
    print(content)
    with target.connect() as connection:
        connection.send(content)
        if each.is_torn:
            connection.end_sending()
        response = connection.response(each.method)
    print(response.status, response.headers, response.body, sep="\n")
    print("\n".join(target.log().splitlines()[-40:]))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--database", choices=ENGINES, default="sqlite")
    parser.add_argument(
        "--only", type=int, help="send the request with this number alone, and print the response"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
