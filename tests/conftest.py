# SPDX-License-Identifier: Apache-2.0

"""Which databases the tests run on, and a plain word at the end about those that they did not run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import databases as on
from tests.support.servers import Missing


def pytest_configure(config: pytest.Config) -> None:
    try:
        on.chosen()
    except Missing as missing:
        raise pytest.UsageError(str(missing)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "databases" in metafunc.fixturenames:
        metafunc.parametrize("databases", on.chosen(), indirect=True, scope="session")


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Iterator[on.Databases]:
    """Fresh databases, on each engine in turn: whatever uses them is a contract that all engines keep."""
    with on.databases_of(request.param) as databases:
        yield databases


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.section("databases", sep="-")
    terminalreporter.line(f"run on: {', '.join(on.chosen())}")
    for engine, reason in on.left_out().items():
        terminalreporter.line(f"not run on {engine}: {reason}")
    for reason in sorted({reason for reason in _skipped(terminalreporter) if "not run: " in reason}):
        terminalreporter.line(reason.removeprefix("Skipped: "))


def _skipped(reporter: pytest.TerminalReporter) -> Iterator[str]:
    for report in reporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            yield report.longrepr[2]
