# SPDX-License-Identifier: Apache-2.0

"""Writes the sample files from the options and the rules: `make docs`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
COMMANDS = {"placement.conf.sample": "config", "policy.yaml.sample": "policy"}


def sample(name: str) -> str:
    """By the command, in a process of its own: oslo's generator changes the defaults of libraries in its process."""
    command = [sys.executable, "-m", "plimsoll.cli", COMMANDS[name], "sample"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    SAMPLES.mkdir(exist_ok=True)
    for name in COMMANDS:
        (SAMPLES / name).write_text(sample(name))
