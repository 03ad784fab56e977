# SPDX-License-Identifier: Apache-2.0

"""`placement-api`: serves the Placement API until it is told to stop, by the server of `plimsoll serve`.

It takes what Placement's script of this name took. To a server that loads the script as a file it is the
application itself, see scripts/placement-api.
"""

from __future__ import annotations

import argparse

import click

from placement import alone, settings
from plimsoll import cli
from plimsoll.config import loader

FAILED = 1
EVERYWHERE = "0.0.0.0"  # noqa: S104  # what no --host has always meant; with noauth2 it is refused

_EXAMPLE = "Example: placement-api --port 8778"


def main() -> int:
    wanted = _parser().parse_args()
    try:
        alone.require()
        settings.require_database(loader.load())
    except (alone.BesideReferenceError, loader.ConfigError) as problem:
        click.echo(f"Error: {problem}", err=True)
        return FAILED
    words = ["serve", "--host", wanted.host or EVERYWHERE, "--port", str(wanted.port)]
    # Ends the process, with the status of the server.
    cli.main([*words, "--workers", str(wanted.workers)], prog_name="placement-api")
    return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="placement-api",
        description="Serve the Placement API. Settings come from placement.conf and the environment.",
        epilog=_EXAMPLE,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--port", "-p", type=int, default=8000, help="TCP port to listen on")
    parser.add_argument(
        "--host", "-b", default="", help="address to listen on; all of this machine when empty"
    )
    parser.add_argument("--workers", "-w", type=int, default=1, help="worker processes")
    return parser
