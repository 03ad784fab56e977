# SPDX-License-Identifier: Apache-2.0

"""`placement-manage db ...`: the commands of `plimsoll db ...` with the arguments and output of Placement's."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

import plimsoll
from placement.cmd import command
from plimsoll.cli import db_commands


def main() -> int:
    return command.run(_add_parsers, version=plimsoll.__version__)


def _add_parsers(parsers: Any) -> None:
    parsers.required = False
    db = parsers.add_parser("db", epilog="Example: placement-manage db sync && placement-manage db version")
    # `placement-manage db` alone prints its help and exits with 0.
    db.set_defaults(act=lambda conf: db.print_help())
    db_parsers = db.add_subparsers(description="commands for the database")

    def add(name: str, act: command.Act, description: str) -> Any:
        parser = db_parsers.add_parser(name, help=description, description=description)
        parser.set_defaults(act=act)
        return parser

    add("sync", db_commands.sync, "Create missing tables, of Placement and of Plimsoll.")
    add("version", db_commands.print_version, "Print the revision of the schema, or None.")
    stamp = add("stamp", _stamp, "Record a revision of the schema, and change nothing else.")
    stamp.add_argument("version", help="the revision; head is the newest")
    migrations = add(
        "online_data_migrations", _migrate_data, "Complete rows that older releases left incomplete."
    )
    migrations.add_argument("--max-count", metavar="<number>", help="the most rows to complete, in one batch")


def _stamp(conf: cfg.ConfigOpts) -> None:
    db_commands.stamp(conf, conf.command.version)


def _migrate_data(conf: cfg.ConfigOpts) -> int:
    return db_commands.migrate_data(conf, conf.command.max_count)
