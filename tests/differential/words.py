# SPDX-License-Identifier: Apache-2.0

"""The words that worlds and requests are made of: few, so that random requests meet each other."""

from dataclasses import dataclass
from typing import Any

from tests.differential.requests import Dice

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB", "SRIOV_NET_VF", "VGPU", "CUSTOM_GOLD_UNIT", "CUSTOM_BW")
TRAITS = (
    "HW_CPU_X86_AVX2",
    "HW_CPU_X86_VMX",
    "HW_NUMA_ROOT",
    "STORAGE_DISK_SSD",
    "COMPUTE_VOLUME_MULTI_ATTACH",
    "CUSTOM_FAST",
    "CUSTOM_RED",
    "CUSTOM_PHYSNET_A",
)
SHARES = "MISC_SHARES_VIA_AGGREGATE"
RATIOS = (1.0, 1.0, 1.0, 16.0, 16.0, 1.5, 1.5, 0.9, 0.3333, 2.0, 0.5, 4.0, 0.0)
TOTALS = {
    "VCPU": (2, 8, 10, 16, 24),
    "MEMORY_MB": (512, 2048, 4096, 8192),
    "DISK_GB": (10, 100, 500, 2000),
    "SRIOV_NET_VF": (1, 4, 8),
    "VGPU": (1, 4, 8),
    "CUSTOM_GOLD_UNIT": (1, 7, 30),
    "CUSTOM_BW": (1000, 10000),
}
MOST_PROVIDERS = 40


@dataclass(frozen=True, slots=True)
class Words:
    """The names that are particular to one seed."""

    aggregates: tuple[str, ...]
    projects: tuple[str, ...]
    users: tuple[str, ...]
    consumers: tuple[str, ...]
    strangers: tuple[str, ...]  # uuids that nothing has
    types: tuple[str, ...] = ("INSTANCE", "MIGRATION", "VOLUME_7")


def of_seed(dice: Dice) -> Words:
    def uuids(count: int) -> tuple[str, ...]:
        return tuple(dice.uuid() for _ in range(count))

    return Words(uuids(5), ("team-a", "team-b", *uuids(1)), ("ann", "bob", *uuids(1)), uuids(24), uuids(6))


def inventory(dice: Dice, resource_class: str) -> dict[str, Any]:
    """An inventory, often plain, sometimes with every oddity."""
    total = dice.pick(TOTALS.get(resource_class, (1, 5, 50)))
    body: dict[str, Any] = {"total": total}
    if dice.chance(0.3):
        body["reserved"] = dice.pick((0, 1, 1, total // 4, total // 2, total))
    if dice.chance(0.5):
        body["allocation_ratio"] = dice.pick(RATIOS)
    if dice.chance(0.2):
        body["min_unit"] = dice.pick((1, 2, max(1, total // 4)))
    if dice.chance(0.3):
        body["max_unit"] = dice.pick((1, 3, max(1, total // 2), total, total, total * 2))
    if dice.chance(0.2):
        body["step_size"] = dice.pick((1, 2, 3, 10))
    return body
