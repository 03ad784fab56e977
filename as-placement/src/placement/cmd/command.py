# SPDX-License-Identifier: Apache-2.0

"""Parts shared by `placement-manage` and `placement-status`: the command line, and errors in one line.

oslo.config parses the command line, as in Placement, so that all its options exist.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from oslo_config import cfg

from placement import alone, conf, settings
from plimsoll.config import loader

FAILED = 1
NO_COMMAND = 1

Act = Callable[[cfg.ConfigOpts], int | None]
"""The function of a command. Its return value is the exit status."""


def run(add_parsers: Callable[[Any], None], version: str | None = None) -> int:
    """Run the command of the command line. `add_parsers` adds parsers, which set its function as `act`."""
    try:
        alone.require()
        loaded = _load(add_parsers, version)
        act: Act = getattr(loaded.command, "act", _print_help)
        return act(loaded) or 0
    except (alone.BesideReferenceError, loader.ConfigError) as problem:
        click.echo(f"Error: {problem}", err=True)
    except click.ClickException as problem:
        problem.show()
    return FAILED


def _load(add_parsers: Callable[[Any], None], version: str | None) -> cfg.ConfigOpts:
    loaded = cfg.ConfigOpts()
    conf.register_opts(loaded)
    loaded.register_cli_opt(cfg.SubCommandOpt("command", handler=add_parsers))
    loader.parse_config(loaded, sys.argv[1:], Path(sys.argv[0]).name, version)
    settings.require_database(loaded)
    return loaded


def _print_help(loaded: cfg.ConfigOpts) -> int:
    loaded.print_help()
    return NO_COMMAND
