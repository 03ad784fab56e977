# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check`: is anything left to do before the next release is installed?"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import click
from oslo_config import cfg
from oslo_utils import fileutils

from plimsoll.cli.results import Code, Result, as_json, as_table
from plimsoll.cli.settings import Program, configured, database
from plimsoll.storage import online

# Not one of the codes, so that nobody takes a check that could not run for one that failed.
COULD_NOT_CHECK = 255

_ROOTLESS = (
    "There is at least one resource provider table record which misses its root provider id. Run the"
    ' "{manage} db online_data_migrations" command.'
)
_UNRECORDED = (
    "There are {count} incomplete consumers table records for existing allocations. Run the"
    ' "{manage} db online_data_migrations" command.'
)
_JSON_POLICY = (
    "Your policy file is JSON-formatted which is deprecated. You need to switch to YAML-formatted file. Use the"
    " ``oslopolicy-convert-json-to-yaml`` tool to convert the existing JSON-formatted files to YAML in a"
    " backwards-compatible manner:"
    " https://docs.openstack.org/oslo.policy/latest/cli/oslopolicy-convert-json-to-yaml.html."
)


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
    try:
        conf = program.load()
        results = (
            _for_ourselves(conf)
            if program.manage == Program().manage
            else _as_placement(conf, program.manage)
        )
    except click.ClickException as error:
        click.echo(f"Error:\n{error.message}")
        return COULD_NOT_CHECK
    except Exception:
        click.echo(f"Error:\n{traceback.format_exc()}")
        return COULD_NOT_CHECK
    click.echo(as_json(results) if in_json else as_table(results))
    return max(result.code for result in results)


def _for_ourselves(conf: cfg.ConfigOpts) -> Sequence[Result]:
    """What an operator of Plimsoll wants to know, or one who is about to become that."""
    # Imported here because it imports the domain, which other commands need not wait for.
    from plimsoll.cli import preflight

    with database(conf) as opened:
        return [*preflight.run(conf, opened), _policy_file(conf)]


def _as_placement(conf: cfg.ConfigOpts, manage: str) -> Sequence[Result]:
    """Placement's checks, in its order and its words, for tools that read those."""
    with database(conf) as opened, opened.read() as connection:
        rootless = online.count_rootless_providers(connection)
        unrecorded = online.count_incomplete_consumers(connection)
    return (
        Result("Missing Root Provider IDs", Code.FAILURE, _ROOTLESS.format(manage=manage))
        if rootless
        else Result("Missing Root Provider IDs"),
        Result("Incomplete Consumers", Code.WARNING, _UNRECORDED.format(manage=manage, count=unrecorded))
        if unrecorded
        else Result("Incomplete Consumers"),
        _policy_file(conf),
    )


def _policy_file(conf: cfg.ConfigOpts) -> Result:
    policy_file = conf.find_file(conf.oslo_policy.policy_file)
    is_json = policy_file is not None and fileutils.is_json(policy_file)
    return Result("Policy File JSON to YAML Migration", *((Code.FAILURE, _JSON_POLICY) if is_json else ()))
