# SPDX-License-Identifier: Apache-2.0

"""Which settings a start is to have, whoever starts: Placement's, and a database that is named.

Plimsoll would bring a database of its own where none is named. In the place of a Placement that has one, that would
be an empty cloud that looks well, so this is as Placement has it: no database, no start.
"""

from __future__ import annotations

from oslo_config import cfg

from plimsoll import config

_UNNAMED = (
    "value required for option connection in group [placement_database]: name the database in placement.conf,"
    " or in OS_PLACEMENT_DATABASE__CONNECTION"
)


def require_database(conf: cfg.ConfigOpts) -> None:
    """Raises ConfigError if nobody says which database it is. Options that `conf` lacks are registered."""
    config.register(conf)
    if not config.names_database(conf):
        raise config.ConfigError([_UNNAMED])
