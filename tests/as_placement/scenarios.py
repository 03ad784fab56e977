# SPDX-License-Identifier: Apache-2.0

"""Sequences of Placement's commands, run with the commands of the reference and with ours, each on its own database."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Step = list[str] | str
"""The arguments of a command, or an SQL statement."""


def _steps(lines: str) -> list[Step]:
    """Parse one command per line; a line that begins with `sql` is a statement for the database."""
    steps: list[Step] = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        steps.append(line.removeprefix("sql ") if line.startswith("sql ") else shlex.split(line))
    return steps


@dataclass(frozen=True, slots=True)
class Scenario:
    steps: list[Step]
    files: dict[str, str] = field(default_factory=dict)
    database: str | None = None
    """A database file that is copied first."""
    settings: dict[str, str] | None = None
    """The environment; by default it names an SQLite file. DIRECTORY is replaced by that of the scenario."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


COMMAND_LINES = """
placement-manage
placement-manage --version
placement-manage --help
placement-manage -h
placement-manage everything
placement-manage --everything
placement-manage db
placement-manage db everything
placement-manage db --help
placement-manage db sync --help
placement-manage db sync now
placement-manage db version --help
placement-manage db version --config-file placement.conf
placement-manage db stamp
placement-manage db stamp --help
placement-manage db stamp head base
placement-manage db online_data_migrations --help
placement-manage db online_data_migrations --max-count
placement-manage db online_data_migrations 5
placement-manage --config-file
placement-status
placement-status --version
placement-status --help
placement-status everything
placement-status --everything
placement-status upgrade
placement-status upgrade --help
placement-status upgrade check --help
placement-status upgrade check --everything
"""

NOT_SYNCED = """
placement-manage db version
placement-status upgrade check
placement-status upgrade check --json
placement-manage db online_data_migrations
placement-manage db online_data_migrations --max-count 5
placement-manage db online_data_migrations --max-count 0
placement-manage db version
"""

FRESH = """
placement-manage db sync
placement-manage db version
placement-manage db sync
placement-manage --debug db version
placement-manage db online_data_migrations
placement-manage db online_data_migrations --max-count 10
placement-status upgrade check
placement-status upgrade everything
"""

STAMPED = """
placement-manage db stamp nothing
placement-manage db version
placement-manage db stamp head
placement-manage db version
placement-manage db stamp b4ed
placement-manage db version
placement-manage db stamp heads
placement-manage db stamp ''
placement-manage db stamp base
placement-manage db version
placement-manage db stamp a082b8bb98d0
sql UPDATE alembic_version SET version_num = 'of another'
placement-manage db version
placement-manage db sync
placement-manage db stamp head
placement-manage db version
"""

# Eleven providers without a root, seven consumers without a record: see tests.storage.reference.fill.
OLD_CLOUD = """
placement-manage db version
placement-manage db sync
placement-status upgrade check
placement-status upgrade check --json
placement-manage db online_data_migrations --max-count many
placement-manage db online_data_migrations --max-count -3
placement-manage db online_data_migrations --max-count=8
placement-manage db online_data_migrations --max 3
placement-status upgrade check
placement-manage db online_data_migrations
placement-manage db online_data_migrations
placement-status upgrade check
placement-manage db version
"""

BROKEN_CLOUD = """
placement-manage db sync
sql CREATE TRIGGER broken BEFORE UPDATE ON resource_providers BEGIN SELECT RAISE(ABORT, 'broken'); END
placement-manage db online_data_migrations --max-count 5
placement-manage db online_data_migrations
placement-status upgrade check
"""

UNREACHABLE = """
placement-manage db version
placement-manage db sync
placement-manage db stamp head
placement-manage db online_data_migrations
placement-status upgrade check
placement-status upgrade check --json
"""

SETTINGS = """
placement-manage --config-file placement.conf db sync
placement-manage --config-file placement.conf db version
placement-manage --config-file nowhere.conf --config-file placement.conf db version
placement-manage --config-file wrong.conf --config-file placement.conf db version
placement-manage --config-file torn.conf db version
placement-manage --config-file placement.conf --config-dir more.conf.d db version
placement-manage --config-file placement.conf --config-dir nowhere.conf.d db version
placement-status --config-file placement.conf upgrade check
placement-status --config-file placement.conf --config-file json.conf upgrade check
placement-status --config-file nowhere.conf upgrade check
placement-status --config-file wrong.conf --config-file placement.conf upgrade check
"""

NO_DATABASE = """
placement-manage
placement-manage db
placement-manage db sync
placement-manage db version
placement-status upgrade check
"""

FILES = {
    "placement.conf": "[placement_database]\nconnection = sqlite:///named.sqlite\n[unheard]\nof = 1\n",
    "wrong.conf": "[placement_database]\nmax_retries = some\n",
    "torn.conf": "[placement_database\n",
    "more.conf.d/more.conf": "[placement_database]\nconnection = sqlite:///other.sqlite\n",
    "json.conf": "[oslo_policy]\npolicy_file = policy.json\n",
    "policy.json": '{"placement:usages": "@"}',
}

UNREACHABLE_DATABASE = {
    "OS_PLACEMENT_DATABASE__CONNECTION": "mysql+pymysql://placement:secret@127.0.0.1:1/placement",
    "OS_PLACEMENT_DATABASE__MAX_RETRIES": "0",
    "OS_PLACEMENT_DATABASE__RETRY_INTERVAL": "0",
}


def scenarios(old_clouds: dict[str, Path]) -> dict[str, Scenario]:
    """Return all scenarios by name. `old_clouds` are database files, by the service that made them."""
    found = {
        "arguments": Scenario(_steps(COMMAND_LINES), FILES),
        "not synced": Scenario(_steps(NOT_SYNCED)),
        "fresh": Scenario(_steps(FRESH)),
        "stamped": Scenario(_steps(STAMPED)),
        "unreachable": Scenario(_steps(UNREACHABLE), settings=UNREACHABLE_DATABASE),
        "settings": Scenario(_steps(SETTINGS), FILES, settings={}),
        "nothing named": Scenario(_steps(NO_DATABASE), settings={}),
    }
    for owner, file in old_clouds.items():
        found[f"old cloud of {owner}"] = Scenario(_steps(OLD_CLOUD), database=str(file))
        found[f"broken cloud of {owner}"] = Scenario(_steps(BROKEN_CLOUD), database=str(file))
    return found
