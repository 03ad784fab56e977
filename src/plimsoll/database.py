# SPDX-License-Identifier: Apache-2.0

"""The database that the configuration names. One that cannot be is named with the place where that is written."""

from __future__ import annotations

from oslo_config import cfg

from plimsoll import config
from plimsoll.storage.engine import Database, DatabaseOptions, UnusableDatabaseError


def open_database(conf: cfg.ConfigOpts) -> Database:
    """Nothing is asked of the server yet, if there is one."""
    options = DatabaseOptions.from_sections(conf.placement_database, conf.plimsoll)
    try:
        return Database(config.database_url(conf), options)
    except UnusableDatabaseError as error:
        raise config.wrong(conf, "placement_database", "connection", error) from error
