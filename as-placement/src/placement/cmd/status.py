# SPDX-License-Identifier: Apache-2.0

"""`placement-status upgrade check`: Placement's checks, with its texts.

`plimsoll status upgrade check` has more checks, before a Placement database is taken over.
"""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

from placement.cmd import command
from plimsoll.cli import upgradecheck


def main() -> int:
    return command.run(_add_parsers)


def _add_parsers(parsers: Any) -> None:
    upgrade = parsers.add_parser("upgrade", epilog="Example: placement-status upgrade check")
    # Any text is accepted in this position, as in Placement.
    upgrade.add_argument("check")
    upgrade.add_argument("--json", action="store_true", help="print JSON instead of a table")
    upgrade.set_defaults(act=_check)


def _check(conf: cfg.ConfigOpts) -> int:
    return upgradecheck.report(lambda: upgradecheck.reference_checks(conf), conf.command.json)
