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
# Single precision, in which some databases keep ratios, cannot keep these.
FINE_RATIOS = (0.1, 0.3333333333, 16.1, 123456.789, 1.0000001)
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

    projects = ("team-a", "team-b", kin(dice, "team-a"), kin(dice, "team-a"), *uuids(1))
    users = ("ann", "bob", kin(dice, "ann"), kin(dice, "bob"), *uuids(1))
    return Words(uuids(5), projects, users, uuids(24), uuids(6))


def kin(dice: Dice, text: str) -> str:
    """A text that is the same one for some databases and another for others, or that some cannot keep."""
    return dice.weighted(
        (
            (text.upper(), 3),
            (text.capitalize(), 3),
            (f"{text} ", 3),
            (f" {text}", 1),
            (text.replace("a", "\N{LATIN SMALL LETTER A WITH ACUTE}"), 3),
            (text.replace("e", "e\N{COMBINING ACUTE ACCENT}"), 1),
            (text.replace("s", "\N{LATIN SMALL LETTER SHARP S}"), 1),
            (f"{text}\N{ZERO WIDTH SPACE}", 1),
            (f"{text}\N{GREEK SMALL LETTER PI}", 1),
            (f"{text}\N{GREEK CAPITAL LETTER PI}", 1),
            (f"{text}\N{GRINNING FACE}", 1),
            (f"{text}\N{PILE OF POO}", 1),
            (f"{text}\t", 1),
            (f"{text}\x00", 1),
            (f"{text}%", 1),
        )
    )


def inventory(dice: Dice, resource_class: str) -> dict[str, Any]:
    """An inventory, often plain, sometimes with every oddity."""
    total = dice.pick(TOTALS.get(resource_class, (1, 5, 50)))
    body: dict[str, Any] = {"total": total}
    if dice.chance(0.3):
        body["reserved"] = dice.pick((0, 1, 1, total // 4, total // 2, total))
    if dice.chance(0.5):
        body["allocation_ratio"] = dice.pick(FINE_RATIOS if dice.chance(0.2) else RATIOS)
    if dice.chance(0.2):
        body["min_unit"] = dice.pick((1, 2, max(1, total // 4)))
    if dice.chance(0.3):
        body["max_unit"] = dice.pick((1, 3, max(1, total // 2), total, total, total * 2))
    if dice.chance(0.2):
        body["step_size"] = dice.pick((1, 2, 3, 10))
    return body
