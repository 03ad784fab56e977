# SPDX-License-Identifier: Apache-2.0

"""Run the command in this process, with its own database file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main

Run = Callable[..., Result]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default database of commands; it does not exist yet."""
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
