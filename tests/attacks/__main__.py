# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.attacks [--database ENGINE] [--seconds N] [NAME ...]`: measure attacks and print a table.

Exits with 1 if one of them misses the acceptance: median of the second client within 5 times its undisturbed one, no
response later than 1 s, memory of the worker at most 100 MB more.
"""

from __future__ import annotations

import argparse
import sys

from tests.attacks.every import ATTACKS
from tests.attacks.measure import Report, measure
from tests.support.databases import ENGINES, databases_of

COLUMNS = "{:36} {:>5}  {:>8} {:>8} {:>6}  {:>8}  {:>18}  {}"


def main() -> int:
    options = _options()
    names = options.names or list(ATTACKS)
    chosen = [attack for name, attack in ATTACKS.items() if any(part in name for part in names)]
    print(f"database: {options.database}; {options.seconds:g} s per attack; times in ms, memory in MB")
    titles = ("attack", "point", "quiet", "median", "ratio", "latest", "before/peak/after", "verdict")
    print(COLUMNS.format(*titles))
    missed = 0
    with databases_of(options.database) as databases:
        for attack in chosen:
            if options.database not in attack.engines:
                continue
            with databases.fresh() as url:
                report = measure(attack, url, options.seconds)
            missed += bool(report.misses())
            print(_row(report), flush=True)
    print(f"{missed} of {len(chosen)} miss the acceptance" if missed else "all within the acceptance")
    return 1 if missed else 0


def _row(report: Report) -> str:
    memory = "/".join(f"{each / 1e6:.0f}" for each in report.memory)
    responses = ", ".join(f"{count} x {status}" for status, count in report.statuses.items())
    verdict = "; ".join(report.misses()) or "ok"
    return COLUMNS.format(
        report.attack.name,
        report.attack.point,
        f"{report.quiet.median * 1e3:.2f}",
        f"{report.during.median * 1e3:.2f}",
        f"{report.ratio:.1f}",
        f"{report.during.latest * 1e3:.0f}",
        memory,
        f"{verdict}  [{responses}]",
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="attacks whose name contains this; all without it"
    )
    parser.add_argument("--database", choices=ENGINES, default="sqlite")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each attack goes on")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
