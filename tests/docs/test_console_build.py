# SPDX-License-Identifier: Apache-2.0

"""The build of the console: which sources it depends on, which Node.js it takes, and what it does without one."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "console" / "build.py"


@pytest.fixture
def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("console_build", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def program(directory: Path, name: str, text: str) -> Path:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def copied(tmp_path: Path) -> Path:
    """A checkout with the script and one source."""
    (tmp_path / "console").mkdir()
    (tmp_path / "src" / "plimsoll").mkdir(parents=True)
    copy = tmp_path / "console" / "build.py"
    copy.write_text(SCRIPT.read_text())
    (tmp_path / "console" / "package-lock.json").write_text("{}")
    return copy


def run(script: Path, path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script, *options],
        env={**os.environ, "PATH": f"{path}:/bin:/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("version", "is_used"),
    [
        ("v20.19.0", True),
        ("v22.12.1", True),
        ("v24.0.0", True),
        ("v18.20.0", False),
        ("v21.7.0", False),
        ("", False),
    ],
)
def test_only_a_recent_node_is_used(script: ModuleType, tmp_path: Path, version: str, is_used: bool) -> None:
    assert script.is_recent(str(program(tmp_path, "node", f"echo {version}"))) is is_used


def test_it_builds_once_for_equal_sources(tmp_path: Path) -> None:
    script, programs = copied(tmp_path), tmp_path / "bin"
    programs.mkdir()
    program(programs, "node", "echo v22.12.0")
    output = tmp_path / "src" / "plimsoll" / "console_static"
    program(
        programs, "npm", f'echo "$@" >> {tmp_path}/calls; mkdir -p {output} {tmp_path}/console/node_modules'
    )
    for _ in range(2):
        assert run(script, programs).returncode == 0
    assert (tmp_path / "calls").read_text().splitlines() == ["ci --no-audit --no-fund", "run build"]
    (tmp_path / "console" / "main.ts").write_text("export {}")
    assert run(script, programs).returncode == 0
    assert (tmp_path / "calls").read_text().splitlines()[2:] == ["run build"]


def test_a_build_that_fails_is_reported_and_may_be_optional(tmp_path: Path) -> None:
    script, programs = copied(tmp_path), tmp_path / "bin"
    programs.mkdir()
    program(programs, "node", "echo v22.12.0")
    program(programs, "npm", "echo the registry is away; exit 7")
    failed = run(script, programs)
    assert failed.returncode == 1
    assert "NOT built" in failed.stderr
    assert "the registry is away" in failed.stderr
    assert run(script, programs, "--optional").returncode == 0
    assert not (tmp_path / "src" / "plimsoll" / "console_static" / ".built").exists()


def test_the_lock_file_has_no_addresses() -> None:
    packages = json.loads((ROOT / "console" / "package-lock.json").read_text())["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
