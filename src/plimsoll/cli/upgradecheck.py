# SPDX-License-Identifier: Apache-2.0

"""The results of upgrade checks, with the codes and the format of Placement's, and Placement's own checks."""

from __future__ import annotations

import enum
import json
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import click
from oslo_config import cfg
from oslo_utils import fileutils

from plimsoll.cli import tables
from plimsoll.cli.settings import database
from plimsoll.storage.maintenance import data_migrations

TITLE = "Upgrade Check Results"

# Not one of `Code`, so that a check that could not run differs from one that failed.
COULD_NOT_CHECK = 255

_ROOTLESS = (
    "There is at least one resource provider table record which misses its root provider id. Run the"
    ' "placement-manage db online_data_migrations" command.'
)
_UNRECORDED = (
    "There are {count} incomplete consumers table records for existing allocations. Run the"
    ' "placement-manage db online_data_migrations" command.'
)
_JSON_POLICY = (
    "Your policy file is JSON-formatted which is deprecated. You need to switch to YAML-formatted file. Use the"
    " ``oslopolicy-convert-json-to-yaml`` tool to convert the existing JSON-formatted files to YAML in a"
    " backwards-compatible manner:"
    " https://docs.openstack.org/oslo.policy/latest/cli/oslopolicy-convert-json-to-yaml.html."
)


class Code(enum.IntEnum):
    """The outcome of a check. The highest one is the exit status of the command."""

    SUCCESS = 0
    WARNING = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one check."""

    check: str
    code: Code = Code.SUCCESS
    details: str | None = None


def report(checks: Callable[[], Sequence[Result]], in_json: bool) -> int:
    """Print the results of the checks; return the exit status."""
    try:
        results = checks()
    except click.ClickException as error:
        click.echo(f"Error:\n{error.message}")
        return COULD_NOT_CHECK
    except Exception:
        click.echo(f"Error:\n{traceback.format_exc()}")
        return COULD_NOT_CHECK
    click.echo(as_json(results) if in_json else as_table(results))
    return max(result.code for result in results)


def as_table(results: Sequence[Result]) -> str:
    cells = []
    for result in results:
        details = "\n".join(textwrap.wrap(str(result.details), 60, subsequent_indent="  "))
        outcome = result.code.name.capitalize()
        cells.append(f"Check: {result.check}\nResult: {outcome}\nDetails: {details}")
    return tables.boxed(TITLE, cells)


def as_json(results: Sequence[Result]) -> str:
    listed = [{"check": result.check, "result": result.code, "details": result.details} for result in results]
    return json.dumps({"name": TITLE, "checks": listed})


def reference_checks(conf: cfg.ConfigOpts) -> Sequence[Result]:
    """Run the checks of `placement-status upgrade check`."""
    with database(conf) as opened, opened.read() as connection:
        rootless = data_migrations.count_rootless_providers(connection)
        unrecorded = data_migrations.count_incomplete_consumers(connection)
    return (
        Result("Missing Root Provider IDs", *((Code.FAILURE, _ROOTLESS) if rootless else ())),
        Result(
            "Incomplete Consumers",
            *((Code.WARNING, _UNRECORDED.format(count=unrecorded)) if unrecorded else ()),
        ),
        policy_file(conf),
    )


def policy_file(conf: cfg.ConfigOpts) -> Result:
    """Check that the policy file is not JSON, which is deprecated."""
    file = conf.find_file(conf.oslo_policy.policy_file)
    is_json = file is not None and fileutils.is_json(file)
    return Result("Policy File JSON to YAML Migration", *((Code.FAILURE, _JSON_POLICY) if is_json else ()))
