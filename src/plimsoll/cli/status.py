# SPDX-License-Identifier: Apache-2.0

"""`plimsoll status upgrade check`: is anything left to do before the next release is installed?"""

from __future__ import annotations

import enum
import json
import textwrap
import traceback
from dataclasses import dataclass

import click
from oslo_config import cfg
from oslo_utils import fileutils

from plimsoll.cli import grids
from plimsoll.cli.settings import Program, configured, database
from plimsoll.storage import online

TITLE = "Upgrade Check Results"

# Not one of the codes, so that nobody takes a check that could not run for one that failed.
COULD_NOT_CHECK = 255


class Code(enum.IntEnum):
    """The outcome of a check, and the exit status of the command: the worst of all."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found."""

    check: str
    code: Code = Code.SUCCESS
    details: str | None = None


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
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@configured
def check(program: Program, as_json: bool) -> int:
    """Check that nothing is left to do before an upgrade.

    Exits 0 when all is well, 1 on a warning, 2 on a failure that must be seen to first, 255 when the checks
    could not run.

    \b
    Example:
      plimsoll status upgrade check --json
    """
    try:
        results = run_checks(program.load(), program.manage)
    except click.ClickException as error:
        click.echo(f"Error:\n{error.message}")
        return COULD_NOT_CHECK
    except Exception:
        click.echo(f"Error:\n{traceback.format_exc()}")
        return COULD_NOT_CHECK
    click.echo(_as_json(results) if as_json else _as_table(results))
    return max(result.code for result in results)


def run_checks(conf: cfg.ConfigOpts, manage: str) -> tuple[Result, ...]:
    """Every check, in the order in which they are shown."""
    with database(conf) as opened, opened.read() as connection:
        rootless = online.count_rootless_providers(connection)
        unrecorded = online.count_incomplete_consumers(connection)
    policy_file = conf.find_file(conf.oslo_policy.policy_file)
    return (
        Result("Missing Root Provider IDs", Code.FAILURE, _ROOTLESS.format(manage=manage))
        if rootless
        else Result("Missing Root Provider IDs"),
        Result("Incomplete Consumers", Code.WARNING, _UNRECORDED.format(manage=manage, count=unrecorded))
        if unrecorded
        else Result("Incomplete Consumers"),
        Result("Policy File JSON to YAML Migration", Code.FAILURE, _JSON_POLICY)
        if policy_file and fileutils.is_json(policy_file)
        else Result("Policy File JSON to YAML Migration"),
    )


def _as_table(results: tuple[Result, ...]) -> str:
    return grids.boxed(
        TITLE,
        [
            f"Check: {result.check}\nResult: {result.code.name.capitalize()}\nDetails: {_folded(result.details)}"
            for result in results
        ],
    )


def _folded(details: str | None) -> str:
    return "None" if details is None else "\n".join(textwrap.wrap(details, 60, subsequent_indent="  "))


def _as_json(results: tuple[Result, ...]) -> str:
    listed = [{"check": result.check, "result": result.code, "details": result.details} for result in results]
    return json.dumps({"name": TITLE, "checks": listed})
