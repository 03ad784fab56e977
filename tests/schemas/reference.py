# SPDX-License-Identifier: Apache-2.0

"""Run cases through the reference's parsers, all in one process."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE_PYTHON = ROOT / ".venv-reference" / "bin" / "python"

needs_the_reference = pytest.mark.skipif(
    not REFERENCE_PYTHON.exists(), reason="needs the reference: make test installs it"
)


def reference_outcomes(cases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("reference_process.py")
    process = subprocess.run(
        [str(REFERENCE_PYTHON), str(script)],
        input="".join(json.dumps(case) + "\n" for case in cases),
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes: list[dict[str, Any]] = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(outcomes) == len(cases)
    return outcomes
