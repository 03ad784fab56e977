# SPDX-License-Identifier: Apache-2.0

"""`placement-api`: serve the Placement API with the server of `plimsoll serve`, until a signal stops it.

It has the options of Placement's script of this name. A server that loads the script as a file gets the application,
see scripts/placement-api.
"""

from __future__ import annotations

import argparse

import click

from placement import alone, settings
from plimsoll import cli
from plimsoll.config import loader

FAILED = 1
ALL_ADDRESSES = "0.0.0.0"  # noqa: S104  # the default of Placement's script; with noauth2 it is refused

_EXAMPLE = "Example: placement-api --port 8778"


def main() -> int:
    options = _parser().parse_args()
    try:
        alone.require()
        settings.require_database(loader.load())
    except (alone.BesideReferenceError, loader.ConfigError) as problem:
        click.echo(f"Error: {problem}", err=True)
        return FAILED
    arguments = ["serve", "--host", options.host or ALL_ADDRESSES, "--port", str(options.port)]
    # Ends the process, with the exit status of the server.
    cli.main([*arguments, "--workers", str(options.workers)], prog_name="placement-api")
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
        "--host", "-b", default="", help="address to listen on; empty for all addresses of this machine"
    )
    parser.add_argument("--workers", "-w", type=int, default=1, help="worker processes")
    return parser
