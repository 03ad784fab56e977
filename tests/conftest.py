# SPDX-License-Identifier: Apache-2.0

"""Select the engines that the tests run on, and list the excluded engines in the summary.

With `-n` all tests of a module on one engine run in one process, so that each set-up runs once: see `distribution`.

A test that uses `fast_paths` runs twice: with all fast paths, and with none. The marker `only_fast_paths` leaves out the
second run.

A test that uses `databases` runs on each selected engine. The marker `one_engine(reason)` is for tests whose result cannot
depend on the engine, because the code that they test runs before or without SQL; they run on the first selected engine
only. With PLIMSOLL_TEST_ENGINES=all (`make test ENGINES=all`) they run on each engine, too.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from plimsoll.fast_paths import ALL, NONE
from tests.support import databases as support_databases
from tests.support.servers import Missing

FAST, PLAIN = pytest.param(ALL, id="fast"), pytest.param(NONE, id="plain")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only_fast_paths: the test is about a fast path")
    config.addinivalue_line("markers", "one_engine(reason): the result cannot depend on the engine")
    try:
        support_databases.selected_engines()
    except Missing as missing:
        raise pytest.UsageError(str(missing)) from None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    # Imported here because pytest-xdist may be switched off.
    from tests.support.distribution import ByModuleAndEngine

    return ByModuleAndEngine(config, log)


def pytest_collection_finish() -> None:
    """Exempt the objects of the collection from garbage collection: later collections take less time."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "databases" in metafunc.fixturenames:
        metafunc.parametrize("databases", engines_of(metafunc), indirect=True, scope="session")
    if "fast_paths" in metafunc.fixturenames:
        only_fast = metafunc.definition.get_closest_marker("only_fast_paths")
        ways = [FAST] if only_fast else [FAST, PLAIN]
        metafunc.parametrize("fast_paths", ways)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Restore the level of log lines after each test: commands that run in this process set it."""
    root = logging.getLogger()
    level = root.level
    try:
        return (yield)
    finally:
        root.setLevel(level)


def engines_of(metafunc: pytest.Metafunc) -> list[str]:
    """Return the engines that a test runs on."""
    marker = metafunc.definition.get_closest_marker("one_engine")
    assert marker is None or marker.args, f"{metafunc.definition.nodeid}: one_engine needs a reason"
    return support_databases.selected_engines() if marker is None else support_databases.sufficient_engines()


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Iterator[support_databases.Databases]:
    """Fresh databases on each selected engine: a test that uses them runs once per engine."""
    with support_databases.databases_of(request.param) as databases:
        yield databases


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("databases", sep="-")
    terminalreporter.line(f"run on: {', '.join(support_databases.selected_engines())}")
    for engine, reason in support_databases.excluded_engines().items():
        terminalreporter.line(f"not run on {engine}: {reason}")
    for reason in sorted({reason for reason in _skipped(terminalreporter) if "not run: " in reason}):
        terminalreporter.line(reason.removeprefix("Skipped: "))


def _skipped(reporter: pytest.TerminalReporter) -> Iterator[str]:
    for report in reporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            yield report.longrepr[2]
