# SPDX-License-Identifier: Apache-2.0

"""The `openstack` command of `.venv-cloud`, with a user's credentials in its environment."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.cloud.keystone import BIN

ROOT = Path(__file__).resolve().parents[3]

REFERENCE_REGION = "Elsewhere"
"""The region of the reference; Plimsoll is in the default region."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The outcome of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


def client_environment(credentials: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a client: these credentials, none of our settings, and its own programs."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
    return clean | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **credentials}


class OpenStack:
    """Runs commands in sequence in one process, which saves the 1.5 seconds that each takes to start."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [BIN / "python", "-m", "tests.cloud.clients.programs.osc"],
            cwd=ROOT,
            env=client_environment(credentials),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.commands: list[str] = self._read()

    def run(self, line: str, credentials: Mapping[str, str] | None = None) -> CommandResult:
        """Run the command with these credentials, or its own."""
        assert self._process.stdin is not None
        command = {"words": shlex.split(line), "environment": dict(credentials or {})}
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return CommandResult(**self._read())

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the client ended"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def started(line: str, credentials: Mapping[str, str]) -> CommandResult:
    """Run the command in a new process, as a user does."""
    ran = subprocess.run(
        [BIN / "openstack", *shlex.split(line)],
        env=client_environment(credentials),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return CommandResult(ran.returncode, ran.stdout, ran.stderr)
