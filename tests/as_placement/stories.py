# SPDX-License-Identifier: Apache-2.0

"""What people and tools do with Placement's commands, as stories that both commands tell on databases of their own."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Step = list[str] | str
"""The words of a command, or an SQL statement."""


def _words(lines: str) -> list[Step]:
    """A command per line; one that begins with `sql` is for the database itself."""
    steps: list[Step] = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        steps.append(line.removeprefix("sql ") if line.startswith("sql ") else shlex.split(line))
    return steps


@dataclass(frozen=True, slots=True)
class Story:
    steps: list[Step]
    files: dict[str, str] = field(default_factory=dict)
    database: str | None = None
    """A file to begin from a copy of."""
    settings: dict[str, str] | None = None
    """The environment, if it is not to name an SQLite file. DIRECTORY stands for the one of the story."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


WORDS = """
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

NOTHING_NAMED = """
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

NOBODY_LISTENS = {
    "OS_PLACEMENT_DATABASE__CONNECTION": "mysql+pymysql://placement:secret@127.0.0.1:1/placement",
    "OS_PLACEMENT_DATABASE__MAX_RETRIES": "0",
    "OS_PLACEMENT_DATABASE__RETRY_INTERVAL": "0",
}


def stories(old_clouds: dict[str, Path]) -> dict[str, Story]:
    """All of them. `old_clouds` are databases by whose they are."""
    told = {
        "words": Story(_words(WORDS), FILES),
        "not synced": Story(_words(NOT_SYNCED)),
        "fresh": Story(_words(FRESH)),
        "stamped": Story(_words(STAMPED)),
        "unreachable": Story(_words(UNREACHABLE), settings=NOBODY_LISTENS),
        "settings": Story(_words(SETTINGS), FILES, settings={}),
        "nothing named": Story(_words(NOTHING_NAMED), settings={}),
    }
    for whose, file in old_clouds.items():
        told[f"old cloud of {whose}"] = Story(_words(OLD_CLOUD), database=str(file))
        told[f"broken cloud of {whose}"] = Story(_words(BROKEN_CLOUD), database=str(file))
    return told
