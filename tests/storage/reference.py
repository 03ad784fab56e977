# SPDX-License-Identifier: Apache-2.0

"""Run the reference's commands on a test database, and fill one with rows of an old release of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from tests.support.databases import engine_of, open_connection

BIN = Path(__file__).parents[2] / ".venv-reference" / "bin"

# The drivers of its installation guides.
DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg2", "mariadb": "mysql+pymysql"}


def run(command: str, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the reference's commands on this database; the exit code is not checked."""
    if not (BIN / command).exists():
        pytest.skip("needs the reference: run `make test`, which installs it")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))
    }
    connection = make_url(url).set(drivername=DRIVERS[engine_of(url)])
    environment["OS_PLACEMENT_DATABASE__CONNECTION"] = connection.render_as_string(hide_password=False)
    return subprocess.run(
        [BIN / command, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )


def manage(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run("placement-manage", url, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def fill(url: str) -> None:
    """Insert old rows: providers without a root, and allocations without a consumer."""
    with open_connection(url) as connection:
        connection.execute(text("INSERT INTO resource_classes (id, name) VALUES (0, 'VCPU')"))
        connection.execute(
            text(
                "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
                " VALUES (:id, :uuid, :name, 3, :root)"
            ),
            [
                {
                    "id": number,
                    "uuid": f"provider-{number}",
                    "name": f"name {number}",
                    "root": number if number > 11 else None,
                }
                for number in range(1, 13)
            ],
        )
        connection.execute(
            text(
                "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
                " max_unit, step_size, allocation_ratio) VALUES (:provider, 0, 100, 0, 1, 100, 1, 1.5)"
            ),
            [{"provider": number} for number in range(1, 13)],
        )
        connection.execute(
            text(
                "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)"
                " VALUES (:provider, :consumer, 0, 2)"
            ),
            [
                {"provider": provider, "consumer": f"consumer-{number}"}
                for number in range(7)
                for provider in (1, 2)
            ],
        )
