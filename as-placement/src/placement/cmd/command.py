# SPDX-License-Identifier: Apache-2.0

"""What `placement-manage` and `placement-status` have in common: a command line that oslo.config reads, as Placement's
is, so that all its options are there, and failures that are said in one line instead of a traceback.
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
"""What a command does; what it returns is the exit status."""


def run(add_parsers: Callable[[Any], None], version: str | None = None) -> int:
    """Do what the command line says, for which `add_parsers` adds parsers that set `act`."""
    try:
        alone.require()
        settled = _parsed(add_parsers, version)
        act: Act = getattr(settled.command, "act", _explain)
        return act(settled) or 0
    except (alone.BesideReferenceError, loader.ConfigError) as problem:
        click.echo(f"Error: {problem}", err=True)
    except click.ClickException as problem:
        problem.show()
    return FAILED


def _parsed(add_parsers: Callable[[Any], None], version: str | None) -> cfg.ConfigOpts:
    settled = cfg.ConfigOpts()
    conf.register_opts(settled)
    settled.register_cli_opt(cfg.SubCommandOpt("command", handler=add_parsers))
    loader.parsed(settled, sys.argv[1:], Path(sys.argv[0]).name, version)
    settings.require_database(settled)
    return settled


def _explain(settled: cfg.ConfigOpts) -> int:
    settled.print_help()
    return NO_COMMAND
