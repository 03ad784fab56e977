# SPDX-License-Identifier: Apache-2.0

"""Clouds of another size for attacks, written to the database before the service starts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from bench.datasets import shapes
from bench.datasets.loading import fill
from bench.datasets.rows import Rows
from tests.attacks.target import Target

HOSTS, TREES = 5_000, 715
"""10,005 providers: each tree has seven."""
CONSUMERS = 300_000


def large() -> Rows:
    """10,000 providers: hosts that are nearly full, and trees."""
    rows = shapes.busy(HOSTS)
    for _ in range(TREES):
        host = rows.provider({"DISK_GB": 20_480}, ["COMPUTE_VOLUME_MULTI_ATTACH"])
        for _ in range(2):
            node = rows.provider({"VCPU": 4, "MEMORY_MB": 2048}, ["HW_NUMA_ROOT", "CUSTOM_FOO"], parent=host)
            rows.provider({"FPGA": 1}, parent=node)
            rows.provider({"VGPU": 8}, parent=node)
    return rows


def consumers() -> Rows:
    """300,000 consumers on 1,000 hosts."""
    rows, chosen = Rows(), random.Random(1)
    for _ in range(1_000):
        rows.provider({"VCPU": {"total": 1_000, "allocation_ratio": 16.0}, "MEMORY_MB": 1_000_000})
    for number in range(CONSUMERS):
        amounts = {chosen.randint(1, 1_000): {"VCPU": 1}}
        rows.consumer(f"project-{number % 500}", f"user-{number % 7_000}", amounts)
    return rows


CLOUDS: Mapping[str, Callable[[], Rows]] = {"large": large, "consumers": consumers}


def fill_database(target: Target, name: str) -> None:
    """Create and fill the database of a target that was not started yet."""
    rows = CLOUDS[name]()
    (target.directory / "placement.conf").touch()
    synced = target.command("db", "sync")
    assert synced.returncode == 0, synced.stderr
    fill(target.environment["OS_PLACEMENT_DATABASE__CONNECTION"], rows)
    target.host = rows.providers[0]
