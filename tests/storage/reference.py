# SPDX-License-Identifier: Apache-2.0

"""The reference's own commands, run on a database file of ours to compare."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

BIN = Path(__file__).parents[2] / ".venv-reference" / "bin"


def run(command: str, file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the reference's commands on this database, whatever it exits with."""
    if not (BIN / command).exists():
        pytest.skip("needs the reference: run `make test`, which installs it")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))
    }
    environment["OS_PLACEMENT_DATABASE__CONNECTION"] = f"sqlite:///{file}"
    return subprocess.run(
        [BIN / command, *arguments], env=environment, capture_output=True, text=True, timeout=120
    )


def manage(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = run("placement-manage", file, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def dump(file: Path) -> list[str]:
    """Everything in a database but what is ours, as SQL, in one order."""
    connection = sqlite3.connect(file)
    try:
        return sorted(line for line in connection.iterdump() if "plimsoll" not in line)
    finally:
        connection.close()


def fill(file: Path) -> None:
    """A small old cloud: providers of before there were trees, allocations of before there were consumers."""
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("INSERT INTO resource_classes (id, name) VALUES (0, 'VCPU')")
        for number in range(1, 13):
            connection.execute(
                "INSERT INTO resource_providers (id, uuid, name, generation, root_provider_id)"
                " VALUES (?, ?, ?, 3, ?)",
                (number, f"provider-{number}", f"name {number}", number if number > 11 else None),
            )
            connection.execute(
                "INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit,"
                " max_unit, step_size, allocation_ratio) VALUES (?, 0, 100, 0, 1, 100, 1, 1.5)",
                (number,),
            )
        connection.executemany(
            "INSERT INTO allocations (resource_provider_id, consumer_id, resource_class_id, used)"
            " VALUES (?, ?, 0, 2)",
            [(provider, f"consumer-{number}") for number in range(7) for provider in (1, 2)],
        )
    connection.close()
