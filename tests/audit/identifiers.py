# SPDX-License-Identifier: Apache-2.0

"""UUIDs and names that all clients of a run share: few, so that clients conflict often."""

from __future__ import annotations

from uuid import UUID, uuid5

NAMESPACE = UUID("5f0f4b0e-7c5e-4b5e-9a54-0f6d3a6a7d11")

HOSTS = 8
EXTRAS = 8
CONSUMERS = 40

STANDARD_CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB")
CUSTOM_CLASSES = ("CUSTOM_GOLD", "CUSTOM_IRON", "CUSTOM_TIN")
STANDARD_TRAITS = ("HW_CPU_X86_AVX", "HW_CPU_X86_AVX2", "STORAGE_DISK_SSD")
CUSTOM_TRAITS = ("CUSTOM_RAIN", "CUSTOM_SNOW", "CUSTOM_WIND")
PROJECTS = ("red", "green", "blue")
USERS = ("ann", "ben")
TYPES = ("INSTANCE", "MIGRATION")


class Identifiers:
    """`hosts` exist from the start; `extras` are created and deleted, as children or roots."""

    def __init__(self, seed: int) -> None:
        def uuids(kind: str, count: int) -> tuple[str, ...]:
            return tuple(str(uuid5(NAMESPACE, f"{seed}/{kind}/{number}")) for number in range(count))

        self.hosts = uuids("host", HOSTS)
        self.extras = uuids("extra", EXTRAS)
        self.providers = self.hosts + self.extras
        self.consumers = uuids("consumer", CONSUMERS)
        self.aggregates = uuids("aggregate", 4)
        # Fewer names than providers, so that duplicate names are refused.
        self.names = tuple(f"name-{number}" for number in range(HOSTS + EXTRAS - 2))
