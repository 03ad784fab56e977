# SPDX-License-Identifier: Apache-2.0

"""Run scenarios with the commands installed in the environment of this interpreter.

A program for both interpreters: it reads scenarios as JSON and writes the outcomes as JSON. Each command is imported once
and called in forked processes, because the import takes most of the time of a command.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import sqlite3
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

FILE = "placement.sqlite"


def main() -> None:
    scenarios = json.load(sys.stdin)
    json.dump({name: run_scenario(scenario) for name, scenario in scenarios.items()}, sys.stdout)


def run_scenario(scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Run the steps of a scenario in a new directory with its files and its database."""
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for name, text in scenario["files"].items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
        if scenario["database"] is not None:
            shutil.copy(scenario["database"], FILE)
        settings = scenario["settings"]
        if settings is None:
            settings = {"OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{directory}/{FILE}"}
        settings = {name: value.replace("DIRECTORY", directory) for name, value in settings.items()}
        outcomes = [
            run(step, settings) if isinstance(step, list) else execute(step) for step in scenario["steps"]
        ]
        os.chdir("/")
        return outcomes


def execute(statement: str) -> dict[str, Any]:
    connection = sqlite3.connect(FILE)
    with connection:
        connection.execute(statement)
    connection.close()
    return {"status": 0, "stdout": "", "stderr": ""}


def run(arguments: list[str], settings: dict[str, str]) -> dict[str, Any]:
    command = command_named(arguments[0])
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.dup2(stdout.fileno(), 1)
            os.dup2(stderr.fileno(), 2)
            os.environ.update(settings, COLUMNS="80")
            sys.argv = [f"/usr/bin/{arguments[0]}", *arguments[1:]]
            os._exit(call(command))
        _, status = os.waitpid(child, 0)
        stdout.seek(0)
        stderr.seek(0)
        return {
            "status": os.waitstatus_to_exitcode(status),
            "stdout": stdout.read().decode(),
            "stderr": stderr.read().decode(),
        }


def call(command: Callable[[], Any]) -> int:
    """Call a command like the script that an installer creates for it. Return its exit status."""
    status = 1
    try:
        sys.exit(command())
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return status & 0xFF


@functools.cache
def command_named(name: str) -> Callable[[], Any]:
    (found,) = entry_points(group="console_scripts", name=name)
    command: Callable[[], Any] = found.load()
    return command


if __name__ == "__main__":
    main()
