# SPDX-License-Identifier: Apache-2.0

"""The `plimsoll` command: serve, maintain the database, check before an upgrade, explain searches, write a demo.

Commands that Placement has too print the same texts and exit with the same status, so that tools that read them work
unchanged.
"""

from __future__ import annotations

from importlib import import_module

import click

import plimsoll
from plimsoll.cli.settings import Program, with_config_files

__all__ = ["main"]

COMMANDS = ("config", "db", "demo", "explain", "policy", "serve", "status", "why")


class _Commands(click.Group):
    """Imports each command when it is used: workers need neither the commands nor the libraries that print."""

    def list_commands(self, _: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"plimsoll.cli.{name}"), name)
        return command


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(plimsoll.__version__, prog_name="plimsoll", message="%(prog)s %(version)s")
@with_config_files
@click.pass_context
def main(context: click.Context, config_files: tuple[str, ...], config_dirs: tuple[str, ...]) -> None:
    """Plimsoll, a Placement service: inventories of resource providers, their usage, and searches for free capacity.

    Settings come from /etc/placement/placement.conf, or from placement.conf in the directory that
    OS_PLACEMENT_CONFIG_DIR names, or from the files given with --config-file; OS_<GROUP>__<OPTION> in the
    environment overrides any of them.

    \b
    Example, with no server or database to set up first:
      plimsoll serve --dev
    """
    context.obj = Program().with_files((*config_files, *config_dirs))
