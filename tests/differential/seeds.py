# SPDX-License-Identifier: Apache-2.0

"""Run one seed in its own process and return the report as text."""

import shutil
from pathlib import Path

from tests.differential import report
from tests.differential.minimise import minimise
from tests.differential.run import Settings, Tally, run
from tests.differential.session import Outcome


def run_seed(
    seed: int, settings: Settings, options: report.ReportOptions, scratch: Path
) -> tuple[Tally, str]:
    history: list[Outcome] = []
    directory = scratch / f"seed-{seed}"
    try:
        tally = run(seed, settings, directory, history.append)
        lines = differences(seed, history, options)
        lines.append(report.line(tally))
        if options.minimise and any(not outcome.equal for outcome in history):
            lines.append(report.curl_commands(minimise(history, settings, directory / "minimise")))
    finally:
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    return tally, "\n".join(lines)


def differences(seed: int, history: list[Outcome], options: report.ReportOptions) -> list[str]:
    reports = [
        report.difference(outcome, f"seed {seed}, request {number}") + "\n"
        for number, outcome in enumerate(history, 1)
        if not outcome.equal or (options.wording and outcome.verdict.wording)
    ]
    rest = (
        [f"... and {len(reports) - options.max_differences} more"]
        if len(reports) > options.max_differences
        else []
    )
    return reports[: options.max_differences] + rest
