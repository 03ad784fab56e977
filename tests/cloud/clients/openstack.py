# SPDX-License-Identifier: Apache-2.0

"""The `openstack` command of `.venv-cloud`, with somebody's credentials in its environment."""

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

ELSEWHERE = "Elsewhere"
"""The region of the reference; Plimsoll is in the usual one."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


def surroundings(credentials: Mapping[str, str]) -> dict[str, str]:
    """The environment of a client: nothing of ours but these credentials, and its own programs."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
    return clean | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **credentials}


class OpenStack:
    """Runs commands one after the other, without the second and a half that each takes to start."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [BIN / "python", "-m", "tests.cloud.clients.programs.osc"],
            cwd=ROOT,
            env=surroundings(credentials),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.commands: list[str] = self._read()

    def run(self, line: str, credentials: Mapping[str, str] | None = None) -> Ran:
        """Run the command with these credentials, or its own."""
        assert self._process.stdin is not None
        asked = {"words": shlex.split(line), "environment": dict(credentials or {})}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return Ran(**self._read())

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the client ended"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def started(line: str, credentials: Mapping[str, str]) -> Ran:
    """The command as a user starts it."""
    ran = subprocess.run(
        [BIN / "openstack", *shlex.split(line)],
        env=surroundings(credentials),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)
