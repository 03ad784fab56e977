# SPDX-License-Identifier: Apache-2.0

"""Run schemathesis for longer: `python -m tests.openapi [--examples 200] [--seed 1] [v1 1.39 ...]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from plimsoll.api.placement.microversion import VERSIONS
from tests.openapi.fuzzing import V1, fuzz, guarded_service


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="*", help=f"{V1} or a microversion; all of them by default")
    parser.add_argument("--examples", type=int, default=200, help="test cases per operation")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.documents or [V1, *(version.text for version in VERSIONS)]:
        with TemporaryDirectory() as directory, guarded_service(Path(directory)) as service:
            passed, output = fuzz(
                service, Path(directory), name, examples=arguments.examples, seed=arguments.seed
            )
            has_failed = not passed or "Traceback" in service.log()
            failed |= has_failed
            print(output if has_failed else f"{name}: {summary(output)}", flush=True)
            if "Traceback" in service.log():
                print(service.log())
    return failed


def summary(output: str) -> str:
    """Return the line with the number of test cases."""
    lines = [line.strip() for line in output.splitlines()]
    return next((line for line in lines if " generated, " in line), "no summary")


if __name__ == "__main__":
    sys.exit(main())
