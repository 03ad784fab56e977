# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check`: is anything left to do before the next release is installed?"""

from __future__ import annotations

from collections.abc import Sequence

import click
from oslo_config import cfg

from plimsoll.cli import upgradecheck
from plimsoll.cli.results import Result
from plimsoll.cli.settings import Program, configured, database


@click.group()
def status() -> None:
    """Say how the deployment is doing.

    \b
    Example:
      plimsoll status upgrade check
    """


@status.group()
def upgrade() -> None:
    """Before an upgrade.

    \b
    Example:
      plimsoll status upgrade check
    """


@upgrade.command()
@click.option("--json", "in_json", is_flag=True, help="Print JSON instead of a table.")
@configured
def check(program: Program, in_json: bool) -> int:
    """Check that nothing is left to do before an upgrade, or before Plimsoll takes over a Placement database.

    Nothing is changed: it may run while Placement does. Exits 0 when all is well, 1 on a warning, 2 on a failure
    that must be seen to first, 255 when the checks could not run.

    \b
    Example:
      plimsoll status upgrade check --json
    """
    return upgradecheck.report(lambda: _for_ourselves(program.load()), in_json)


def _for_ourselves(conf: cfg.ConfigOpts) -> Sequence[Result]:
    """What an operator of Plimsoll wants to know, or one who is about to become that."""
    # Imported here because it imports the domain, which other commands need not wait for.
    from plimsoll.cli import preflight

    with database(conf) as opened:
        return [*preflight.run(conf, opened), upgradecheck.policy_file(conf)]
