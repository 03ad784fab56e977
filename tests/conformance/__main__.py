# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.conformance [--app plimsoll|reference] [--database sqlite|...] [--jobs N] [word ...]`.

Prints each failing case with its request and response, then `N passed, M failed`; the exit status is 0 if
all passed. Words select files or cases by a part of `file.yaml: case name`.
"""

import argparse
import sys

from tests.conformance import fixture_adapter, sites
from tests.conformance.runner import outcomes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("words", nargs="*", help="a part of a file's or case's name")
    parser.add_argument("--app", choices=fixture_adapter.APPLICATIONS, default="plimsoll")
    parser.add_argument("--database", choices=sites.ENGINES, default="sqlite")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    arguments = parser.parse_args()

    passed = failed = 0
    for outcome in outcomes(arguments.app, arguments.database, arguments.words, arguments.jobs):
        passed += outcome.passed
        failed += len(outcome.failures)
        for failure in outcome.failures:
            print(failure, end="\n\n", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
