# SPDX-License-Identifier: Apache-2.0

"""The command: `python -m bench [run|deployed|compare|fast-paths|explain|metrics|subscribers|profile|identity|page] ...`."""

from __future__ import annotations

import argparse
import sys

from bench import compare, deployed, explain, fast_paths, identity, metrics, page, run, subscribers
from bench.profiling import command as profile


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for module, name in (
        (run, "run"),
        (deployed, "deployed"),
        (compare, "compare"),
        (fast_paths, "fast-paths"),
        (explain, "explain"),
        (metrics, "metrics"),
        (subscribers, "subscribers"),
        (profile, "profile"),
        (identity, "identity"),
        (page, "page"),
    ):
        command = commands.add_parser(name, help=module.HELP, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(main=module.main)
    arguments = parser.parse_args()
    status: int = arguments.main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
