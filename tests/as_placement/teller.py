# SPDX-License-Identifier: Apache-2.0

"""Runs commands one after the other, as the environment of this interpreter has them, and tells what came of each.

A program of its own, for both interpreters: it reads stories as JSON and writes what happened as JSON. A command is
imported once and called in a child process, so that many can be run in the time that one takes to import.
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
    stories = json.load(sys.stdin)
    json.dump({name: tell(story) for name, story in stories.items()}, sys.stdout)


def tell(story: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a story in a directory of their own, where files and a database may be from the start."""
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for name, text in story["files"].items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
        if story["database"] is not None:
            shutil.copy(story["database"], FILE)
        settings = story["settings"]
        if settings is None:
            settings = {"OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{directory}/{FILE}"}
        settings = {name: value.replace("DIRECTORY", directory) for name, value in settings.items()}
        told = [run(step, settings) if isinstance(step, list) else execute(step) for step in story["steps"]]
        os.chdir("/")
        return told


def execute(statement: str) -> dict[str, Any]:
    connection = sqlite3.connect(FILE)
    with connection:
        connection.execute(statement)
    connection.close()
    return {"status": 0, "stdout": "", "stderr": ""}


def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
    command = command_named(words[0])
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.dup2(stdout.fileno(), 1)
            os.dup2(stderr.fileno(), 2)
            os.environ.update(settings, COLUMNS="80")
            sys.argv = [f"/usr/bin/{words[0]}", *words[1:]]
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
    """As the script does that an installer writes for a command."""
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
