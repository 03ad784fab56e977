# SPDX-License-Identifier: Apache-2.0

"""Run case files in worker processes, each of which has its own application under test.

A file is the unit of work: its cases depend on each other and share one database.
"""

import multiprocessing
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.conformance import cases, fixture_adapter, sites
from tests.conformance.report import Outcome, Report

_under_test: fixture_adapter.ApplicationUnderTest | None = None


def prepare(app: str, site: sites.Site, model: str, directory: Path) -> None:
    """Install the application under test; called once in each process."""
    global _under_test
    os.environ["OS_LOG_CAPTURE"] = "1"  # makes the fixtures capture debug logs
    # PyMySQL reads the certificates of the machine for each connection, which takes 30 ms. None is needed here.
    os.environ["SSL_CERT_FILE"] = os.devnull
    _under_test = fixture_adapter.ApplicationUnderTest(app, site, model, directory)
    _under_test.install()


def run_file(path: Path, words: list[str]) -> Outcome:
    assert _under_test is not None, "prepare() has not been called"
    report = Report()
    _under_test.violations.clear()
    suite = cases.suite_of(path, lambda: _under_test, words)
    if suite.countTestCases():
        suite.run(report)
    outcome = report.outcome(path.name)
    found = tuple(f"FAILED {path.name}: inconsistent database\n{problem}" for problem in _under_test.problems)
    found += tuple(
        f"FAILED {path.name}: not as documented\n{violation}" for violation in _under_test.violations
    )
    return replace(outcome, failures=(*outcome.failures, *found))


def outcomes(app: str, engine: str, words: list[str], jobs: int) -> Iterator[Outcome]:
    """Run the files in `jobs` processes, and yield the outcome of each."""
    files = cases.files()
    directory = sites.scratch_directory("plimsoll-conformance")
    try:
        with sites.opened(engine, directory) as site:
            preparation = (app, site, fixture_adapter.model_database(app, site), directory)
            with ProcessPoolExecutor(
                jobs, multiprocessing.get_context("spawn"), initializer=prepare, initargs=preparation
            ) as pool:
                yield from pool.map(run_file, files, [words] * len(files))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
