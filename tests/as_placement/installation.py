# SPDX-License-Identifier: Apache-2.0

"""A virtual environment in which both distributions are built and installed, as by an operator.

Their dependencies are not installed again, but taken from the environment that runs the tests.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = (ROOT, ROOT / "as-placement")


@dataclass(frozen=True, slots=True)
class Installation:
    directory: Path

    @property
    def bin(self) -> Path:
        return self.directory / "bin"

    @property
    def wheels(self) -> Path:
        return self.directory / "wheels"

    def run(self, command: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / command, *arguments],
            env=clean_environment() | settings,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def clean_environment() -> dict[str, str]:
    """Return the environment without variables that change settings or the search for packages."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}


def installed_under(shared: Path) -> Installation:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip(
            "not run: plimsoll-as-placement cannot be built without hatchling; `make install` installs it"
        )
    installation = Installation(shared / "as-placement")
    once(shared / "as-placement.complete", lambda: _install(installation))
    return installation


def once(file: Path, make: Callable[[], str]) -> str:
    """Return the text of the file. The first process of a test run makes it, the others wait for it."""
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_text(make())
        return file.read_text()


def _install(installation: Installation) -> str:
    venv.create(installation.directory, symlinks=True)
    for distribution in DISTRIBUTIONS:
        _python("build", "--wheel", "--no-isolation", "--outdir", str(installation.wheels), str(distribution))
    wheels = sorted(map(str, installation.wheels.glob("*.whl")))
    assert len(wheels) == len(DISTRIBUTIONS)
    python = str(installation.bin / "python")
    _python("pip", "--python", python, "install", "--no-deps", "--no-index", "--no-compile", *wheels)
    (site,) = installation.directory.glob("lib/python3*/site-packages")
    (site / "dependencies.pth").write_text("\n".join(_site_packages()))
    return "\n".join(wheels)


def _site_packages() -> list[str]:
    """Return all package directories of this environment, including those outside of it."""
    own = sysconfig.get_paths()["purelib"]
    return [own, *(path for path in sys.path if path.endswith("site-packages") and path != own)]


def _python(module: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
