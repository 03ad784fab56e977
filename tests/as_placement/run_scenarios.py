# SPDX-License-Identifier: Apache-2.0

"""Run scenarios with the Python of another environment: it runs `scenario_runner`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.as_placement import scenario_runner
from tests.as_placement.installation import clean_environment
from tests.as_placement.scenarios import Scenario

Outcomes = dict[str, list[dict[str, Any]]]
"""By scenario: the exit status, standard output and standard error of each step."""


def run_scenarios(python: Path, chosen: dict[str, Scenario]) -> Outcomes:
    done = subprocess.run(
        [python, scenario_runner.__file__],
        env=clean_environment() | {"HOME": "/nonexistent"},
        input=json.dumps({name: scenario.as_json() for name, scenario in chosen.items()}),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    outcomes: Outcomes = json.loads(done.stdout)
    return outcomes
