# SPDX-License-Identifier: Apache-2.0

"""The command as a user has it: run in this process, on a database file of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main

Run = Callable[..., Result]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database that commands work on unless they are told otherwise; it is not there yet."""
    file = tmp_path / "placement.sqlite"
    monkeypatch.setenv("OS_PLACEMENT_DATABASE__CONNECTION", f"sqlite:///{file}")
    return file


@pytest.fixture
def run(file: Path) -> Run:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    return run


def url_of(file: Path) -> str:
    return f"sqlite:///{file}"
