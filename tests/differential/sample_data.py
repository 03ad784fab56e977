# SPDX-License-Identifier: Apache-2.0

"""Names, uuids and inventories for random requests: few, so that requests often use the same objects."""

from dataclasses import dataclass
from typing import Any

from tests.differential.requests import SeededRandom

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
# Not representable in single precision, in which some databases store ratios.
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
MAX_PROVIDERS = 40


@dataclass(frozen=True, slots=True)
class SampleData:
    """Names and uuids of one seed."""

    aggregates: tuple[str, ...]
    projects: tuple[str, ...]
    users: tuple[str, ...]
    consumers: tuple[str, ...]
    absent_uuids: tuple[str, ...]  # uuids of no object
    types: tuple[str, ...] = ("INSTANCE", "MIGRATION", "VOLUME_7")


def create(rng: SeededRandom) -> SampleData:
    def uuids(count: int) -> tuple[str, ...]:
        return tuple(rng.uuid() for _ in range(count))

    projects = ("team-a", "team-b", similar_text(rng, "team-a"), similar_text(rng, "team-a"), *uuids(1))
    users = ("ann", "bob", similar_text(rng, "ann"), similar_text(rng, "bob"), *uuids(1))
    return SampleData(uuids(5), projects, users, uuids(24), uuids(6))


def similar_text(rng: SeededRandom, text: str) -> str:
    """Return a text that some databases compare as equal to `text`, or that some cannot store."""
    return rng.weighted(
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


def inventory(rng: SeededRandom, resource_class: str) -> dict[str, Any]:
    """Return a random inventory, often with defaults, sometimes with unusual values."""
    total = rng.pick(TOTALS.get(resource_class, (1, 5, 50)))
    body: dict[str, Any] = {"total": total}
    if rng.chance(0.3):
        body["reserved"] = rng.pick((0, 1, 1, total // 4, total // 2, total))
    if rng.chance(0.5):
        body["allocation_ratio"] = rng.pick(FINE_RATIOS if rng.chance(0.2) else RATIOS)
    if rng.chance(0.2):
        body["min_unit"] = rng.pick((1, 2, max(1, total // 4)))
    if rng.chance(0.3):
        body["max_unit"] = rng.pick((1, 3, max(1, total // 2), total, total, total * 2))
    if rng.chance(0.2):
        body["step_size"] = rng.pick((1, 2, 3, 10))
    return body
