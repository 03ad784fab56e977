# SPDX-License-Identifier: Apache-2.0

"""Runs case files in worker processes, each of which has its own application under test.

A file is the unit of work: its cases build upon each other and share one world.
"""

import multiprocessing
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.conformance import cases, sites, worlds
from tests.conformance.report import Outcome, Report

_stage: worlds.Stage | None = None


def prepare(app: str, site: sites.Site, model: str, directory: Path) -> None:
    """Once per process: put the application under test in place."""
    global _stage
    os.environ["OS_LOG_CAPTURE"] = "1"  # the fixtures' way to keep debug logs off the terminal
    # PyMySQL reads the machine's certificates for each connection, 30 ms long, and there is nothing to check.
    os.environ["SSL_CERT_FILE"] = os.devnull
    _stage = worlds.Stage(app, site, model, directory)
    _stage.install()


def run_file(path: Path, words: list[str]) -> Outcome:
    assert _stage is not None, "prepare() comes first"
    report = Report()
    suite = cases.suite_of(path, lambda: _stage, words)
    if suite.countTestCases():
        suite.run(report)
    outcome = report.outcome(path.name)
    found = tuple(f"FAILED {path.name}: the database it left\n{problem}" for problem in _stage.problems)
    return replace(outcome, failures=(*outcome.failures, *found))


def outcomes(app: str, engine: str, words: list[str], jobs: int) -> Iterator[Outcome]:
    """Run the files over so many processes, and yield what became of each."""
    files = cases.files()
    directory = sites.scratch_directory("plimsoll-conformance")
    try:
        with sites.opened(engine, directory) as site:
            preparation = (app, site, worlds.model_database(app, site), directory)
            with ProcessPoolExecutor(
                jobs, multiprocessing.get_context("spawn"), initializer=prepare, initargs=preparation
            ) as pool:
                yield from pool.map(run_file, files, [words] * len(files))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
