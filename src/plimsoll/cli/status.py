# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check`: the checks before an upgrade."""

from __future__ import annotations

import click

from plimsoll.cli import upgradecheck
from plimsoll.cli.settings import Program, configured, database


@click.group()
def status() -> None:
    """Check the deployment.

    \b
    Example:
      plimsoll status upgrade check
    """


@status.group()
def upgrade() -> None:
    """Checks before an upgrade.

    \b
    Example:
      plimsoll status upgrade check
    """


@upgrade.command()
@click.option("--json", "in_json", is_flag=True, help="Print JSON instead of a table.")
@configured
def check(program: Program, in_json: bool) -> int:
    """Check that nothing is left to do before an upgrade, or before Plimsoll takes over a Placement database.

    It changes nothing, and Placement may run meanwhile. Exits 0 if nothing is wrong, 1 on a warning, 2 on a failure,
    which must be fixed first unless its text allows to fix it later, 255 if the checks could not run.

    \b
    Example:
      plimsoll status upgrade check --json
    """

    def checks() -> list[upgradecheck.Result]:
        # Imported here because it imports the domain, which takes time and which other commands do not need.
        from plimsoll.cli import preflight

        conf = program.load()
        with database(conf) as opened:
            return [*preflight.run(conf, opened), upgradecheck.policy_file(conf)]

    return upgradecheck.report(checks, in_json)
