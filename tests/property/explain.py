# SPDX-License-Identifier: Apache-2.0

"""Explain random requests, and compare each explanation with the search and with the plain model.

python -m tests.property.explain --requests 10000 --seed 1
"""

from __future__ import annotations

import argparse
from collections import Counter
from random import Random

from tests.property.search.explaining import check, explain_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    for number in range(options.requests):
        seed = f"{options.seed}:{number}"
        try:
            verdicts[check(explain_case(Random(seed))).verdict] += 1
        except AssertionError as error:
            raise SystemExit(f"Request {number} of seed {options.seed}: {error}") from error
    print(f"{options.requests} requests agree: {dict(verdicts)}")


if __name__ == "__main__":
    main()
