# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.audit`: many processes on one database, and the auditor's verdict on it.

For each seed: progress every few seconds, a summary, `holds` or `DOES NOT HOLD`. The exit status is 0 only if
everything holds. What was recorded of a run that does not hold is kept, and `--history` audits it again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.audit import databases, operations, report
from tests.audit.auditor import audit
from tests.audit.run import Settings, run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description=__doc__)
    parser.add_argument("--database", choices=databases.ENGINES, default="sqlite")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", action="store_true", help="kill the database and services meanwhile")
    parser.add_argument("--services", type=int, default=4)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument(
        "--nodes",
        choices=("one", "all"),
        nargs="+",
        default=["one", "all"],
        help="galera: all services are at one node, or at all three; both in turn unless you choose",
    )
    parser.add_argument("--keep", action="store_true", help="keep the history and the logs in any case")
    parser.add_argument("--history", type=Path, help="audit a history that was kept, and run nothing")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    if options.history is not None:
        return _audit_again(options.history)
    reason = databases.missing(options.database)
    if reason is not None:
        print(f"not run: {reason}")
        return 1
    verdicts = [
        _run(seed, settings, keep=options.keep) for settings in _settings(options) for seed in options.seeds
    ]
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    return 0 if all(verdicts) else 1


def _settings(options: argparse.Namespace) -> list[Settings]:
    nodes = options.nodes if options.database == "galera" else ["one"]
    return [
        Settings(
            options.database,
            options.seconds,
            options.kills,
            options.services,
            options.clients,
            spread=each == "all",
        )
        for each in nodes
    ]


def _run(seed: int, settings: Settings, *, keep: bool) -> bool:
    directory = Path(tempfile.mkdtemp(prefix="plimsoll-audit-"))
    started = time.monotonic()

    def tell(what: str) -> None:
        print(f"seed {seed}: {time.monotonic() - started:5.1f} s: {what}", flush=True)

    tell(f"{settings}")
    holds = False
    try:
        done = run(seed, settings, directory, tell)
        holds = not done.findings
        print(report.text(done))
        tell("holds" if holds else f"DOES NOT HOLD, {len(done.findings)} findings")
    except Exception:
        traceback.print_exc(file=sys.stdout)
        tell("DOES NOT HOLD: the run itself failed")
    finally:
        if keep or not holds:
            tell(f"history and logs are in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return holds


def _audit_again(path: Path) -> int:
    findings = audit(operations.read(path), None, tell=print)
    for finding in findings:
        print(f"FINDING: {finding}")
    print("DOES NOT HOLD" if findings else "holds, as far as answers tell")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
