# SPDX-License-Identifier: Apache-2.0

"""Run cases through the reference's parsers, all in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE_PYTHON = ROOT / ".venv-reference" / "bin" / "python"

needs_the_reference = pytest.mark.skipif(
    not REFERENCE_PYTHON.exists(), reason="needs the reference: make test installs it"
)


class ReferenceParsers:
    """One process of .venv-reference, which parses the requests of all tests."""

    def __enter__(self) -> Self:
        script = Path(__file__).with_name("reference_process.py")
        self._process = subprocess.Popen(
            [str(REFERENCE_PYTHON), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def outcomes(self, cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(cases) + "\n")
        self._process.stdin.flush()
        outcomes: list[dict[str, Any]] = json.loads(self._process.stdout.readline())
        return outcomes
