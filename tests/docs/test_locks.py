# SPDX-License-Identifier: Apache-2.0

"""`make run` installs the packages for serving and no tools; the lock files have the same versions."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def locked(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def test_the_locked_versions_for_serving_are_those_for_tests() -> None:
    everything = locked("requirements.lock")
    serving = locked("requirements-run.lock")
    assert serving.items() <= everything.items()


def test_serving_brings_the_drivers_and_no_tools() -> None:
    serving = locked("requirements-run.lock")
    assert {"pymysql", "psycopg", "psycopg-binary"} <= set(serving)
    assert not {"matplotlib", "hypothesis", "pytest", "mypy", "ruff", "pip-tools"} & set(serving)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    ("target", "locks"),
    [("run", ["requirements-run.lock"]), ("install", ["requirements-run.lock", "requirements.lock"])],
)
def test_each_target_installs_what_it_needs(tmp_path: Path, target: str, locks: list[str]) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements-run.lock", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    planned = subprocess.run(
        ["make", "--dry-run", target], cwd=tmp_path, env=clean, capture_output=True, text=True, check=True
    ).stdout
    assert [word for word in planned.split() if word.endswith(".lock")] == locks
