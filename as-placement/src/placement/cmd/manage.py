# SPDX-License-Identifier: Apache-2.0

"""`placement-manage db ...`: what `plimsoll db ...` does, called and answered as Placement's command is."""

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
    # `placement-manage db` alone explains itself, and is content.
    db.set_defaults(act=lambda conf: db.print_help())
    of_db = db.add_subparsers(description="what can be done to the database")

    def add(name: str, act: command.Act, words: str) -> Any:
        parser = of_db.add_parser(name, help=words, description=words)
        parser.set_defaults(act=act)
        return parser

    add("sync", db_commands.sync, "Create what is missing: tables of Placement, tables of Plimsoll.")
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
