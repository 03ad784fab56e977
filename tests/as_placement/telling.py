# SPDX-License-Identifier: Apache-2.0

"""Has stories told by the commands of an environment: see `teller`, which runs in there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.as_placement import teller
from tests.as_placement.installation import clean_environment
from tests.as_placement.stories import Story

Outcomes = dict[str, list[dict[str, Any]]]
"""By story: the exit status, standard output and standard error of each step."""


def tell(python: Path, chosen: dict[str, Story]) -> Outcomes:
    done = subprocess.run(
        [python, teller.__file__],
        env=clean_environment() | {"HOME": "/nonexistent"},
        input=json.dumps({name: story.as_json() for name, story in chosen.items()}),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    outcomes: Outcomes = json.loads(done.stdout)
    return outcomes
