# SPDX-License-Identifier: Apache-2.0

"""Run the `openstack` command repeatedly: each line of the input has the arguments and the environment of one run.

Each run is a fork of this process, which has already imported the slow modules. The first line of the output has the
commands of osc-placement; one line for each run follows.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import entry_points
from typing import Any

from openstackclient import shell

COMMANDS = "openstack.placement.v1"


def main() -> None:
    commands = entry_points(group=COMMANDS)
    for command in commands:
        command.load()
    _import_what_a_login_needs()
    print(json.dumps([command.name.replace("_", " ") for command in commands]), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


def run(words: list[str], environment: dict[str, str]) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.environ.update(environment)
            _end_with(words)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return {"code": code, "out": out.read(), "err": err.read()}


def _end_with(words: list[str]) -> None:
    code: Any = "died"
    try:
        code = shell.main(words)
    except SystemExit as ended:  # argparse exits so on a wrong option
        code = ended.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 70)


def _import_what_a_login_needs() -> None:
    """Run a command of another service: a placement client created here would be shared by all runs."""
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        code = shell.main(["token", "issue"])
        sys.stdout.flush()
    os.dup2(kept, 1)
    os.close(kept)
    if code:
        sys.exit(code)


if __name__ == "__main__":
    main()
