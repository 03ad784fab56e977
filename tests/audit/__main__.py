# SPDX-License-Identifier: Apache-2.0

"""`python -m tests.audit`: run several processes on one database and audit the recorded history.

For each seed: progress every few seconds, a summary, `holds` or `DOES NOT HOLD`. The exit status is 0 only if
everything holds. The history of a run that does not hold is kept on disk, and `--history` audits it again.
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
    parser.add_argument("--kills", action="store_true", help="kill the database and services during the run")
    parser.add_argument("--services", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1, help="worker processes of each service")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument(
        "--nodes",
        choices=("one", "all"),
        nargs="+",
        default=["one", "all"],
        help="galera: all services use one node, or all three nodes; the default is one run of each",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep the history and the logs of runs that hold too"
    )
    parser.add_argument("--history", type=Path, help="audit this history file, and run nothing")
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
            workers=options.workers,
        )
        for each in nodes
    ]


def _run(seed: int, settings: Settings, *, keep: bool) -> bool:
    directory = Path(tempfile.mkdtemp(prefix="plimsoll-audit-"))
    started = time.monotonic()

    def log(message: str) -> None:
        print(f"seed {seed}: {time.monotonic() - started:5.1f} s: {message}", flush=True)

    log(f"{settings}")
    holds = False
    try:
        done = run(seed, settings, directory, log)
        holds = not done.findings
        print(report.text(done))
        log("holds" if holds else f"DOES NOT HOLD, {len(done.findings)} findings")
    except Exception:
        traceback.print_exc(file=sys.stdout)
        log("DOES NOT HOLD: the run itself failed")
    finally:
        if keep or not holds:
            log(f"history and logs are in {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return holds


def _audit_again(path: Path) -> int:
    findings = audit(operations.read(path), None, log=print)
    for finding in findings:
        print(f"FINDING: {finding}")
    print("DOES NOT HOLD" if findings else "holds, as far as the responses show")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
