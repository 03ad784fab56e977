# SPDX-License-Identifier: Apache-2.0

"""Write the sample files from the options and the policy rules: `make docs`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
COMMANDS = {"placement.conf.sample": "config", "policy.yaml.sample": "policy"}


def sample(name: str) -> str:
    """Run the command in its own process: oslo's generator changes the defaults of libraries in its process."""
    command = [sys.executable, "-m", "plimsoll.cli", COMMANDS[name], "sample"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    SAMPLES.mkdir(exist_ok=True)
    for name in COMMANDS:
        (SAMPLES / name).write_text(sample(name))
