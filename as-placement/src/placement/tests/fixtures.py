# SPDX-License-Identifier: Apache-2.0

"""A database for a test."""

from __future__ import annotations

from pathlib import Path

import fixtures
from oslo_config import fixture as config_fixture
from sqlalchemy import make_url

from plimsoll.cli import db_commands
from plimsoll.config import loader

__all__ = ["Database"]


class Database(fixtures.Fixture):
    """An empty database with every table: the configured one, or else a temporary SQLite file.

    A file also replaces a database in memory, which other connections could not read.
    """

    def __init__(self, conf_fixture: config_fixture.Config, set_config: bool = False) -> None:
        """`set_config` is not used; Placement's fixture has it. A configuration without a database always gets one."""
        super().__init__()
        self.conf_fixture = conf_fixture

    def setUp(self) -> None:
        super().setUp()
        conf = self.conf_fixture.conf
        loader.register(conf)
        url = conf.placement_database.connection
        if not url or _is_in_memory(url):
            file = Path(self.useFixture(fixtures.TempDir()).path) / "placement.sqlite"
            self.conf_fixture.config(
                group="placement_database", connection=f"sqlite:///{file}", sqlite_synchronous=False
            )
        db_commands.sync(conf)


def _is_in_memory(url: str) -> bool:
    parts = make_url(url)
    return parts.get_backend_name() == "sqlite" and parts.database in (None, "", ":memory:")
