# SPDX-License-Identifier: Apache-2.0

"""Runs a seed in a process of its own and tells the story of it as one text."""

import shutil
from pathlib import Path

from tests.differential import report
from tests.differential.minimise import minimise
from tests.differential.run import Settings, Tally, run
from tests.differential.session import Outcome


def run_seed(seed: int, settings: Settings, wanted: report.Wanted, scratch: Path) -> tuple[Tally, str]:
    history: list[Outcome] = []
    directory = scratch / f"seed-{seed}"
    try:
        tally = run(seed, settings, directory, history.append)
        lines = differences(seed, history, wanted)
        lines.append(report.line(tally))
        if wanted.minimise and any(not outcome.equal for outcome in history):
            lines.append(report.recipe(minimise(history, settings, directory / "minimise")))
    finally:
        if not wanted.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return tally, "\n".join(lines)


def differences(seed: int, history: list[Outcome], wanted: report.Wanted) -> list[str]:
    told = [
        report.difference(outcome, f"seed {seed}, request {number}") + "\n"
        for number, outcome in enumerate(history, 1)
        if not outcome.equal or (wanted.wording and outcome.verdict.wording)
    ]
    rest = [f"... and {len(told) - wanted.most} more"] if len(told) > wanted.most else []
    return told[: wanted.most] + rest
