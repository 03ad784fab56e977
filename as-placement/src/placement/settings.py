# SPDX-License-Identifier: Apache-2.0

"""A check at each start that the configuration names a database."""

from __future__ import annotations

from oslo_config import cfg

from plimsoll.config import loader
from plimsoll.config.database_url import database_url


def require_database(conf: cfg.ConfigOpts) -> None:
    """Raise ConfigError if [placement_database]connection is not set. Options that `conf` lacks are registered."""
    loader.register(conf)
    database_url(conf)
