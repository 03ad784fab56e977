# SPDX-License-Identifier: Apache-2.0

"""Imports between the packages go in one direction; the contracts are in pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def lint(directory: Path, *sources: str) -> subprocess.CompletedProcess[str]:
    path = [str(directory / source) for source in sources or ("src",)]
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path}; {LINT}"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_layer_contracts_hold() -> None:
    linted = lint(ROOT)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "0 broken" in linted.stdout


def test_the_contracts_of_as_placement_hold() -> None:
    linted = lint(ROOT / "as-placement", "src", "../src")
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "2 kept, 0 broken" in linted.stdout


def test_a_domain_that_imports_storage_is_found(tmp_path: Path) -> None:
    """The contracts fail for a package whose domain imports an upper layer."""
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name in (
        *("metrics", "monitoring"),
        *("domain", "search", "storage", "storage/fast", "ledger", "service", "access"),
        *(
            "api",
            "http",
            "server",
            "config",
            "runtime",
            "runtime/greenlets",
            "runtime/memory",
            "cli",
            "client",
            "demo",
            "bootstrap",
        ),
    ):
        package = tmp_path / "src" / "plimsoll" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
    (tmp_path / "src" / "plimsoll" / "__init__.py").write_text("")
    assert lint(tmp_path).returncode == 0
    (tmp_path / "src" / "plimsoll" / "domain" / "__init__.py").write_text("import plimsoll.storage\n")
    linted = lint(tmp_path)
    assert linted.returncode == 1
    assert "plimsoll.domain is not allowed to import plimsoll.storage" in linted.stdout
