# SPDX-License-Identifier: Apache-2.0

"""Trouble in the made-up cloud: hosts that shrank below what is in use, and searches that find nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.demo.cloud import DEDICATED_LABEL, SPARE_LABEL, ZONE_LABELS, Cloud
from plimsoll.demo.hardware import GIB, GOLD, GPU, LICENSED, RDMA, MadeUpHost
from plimsoll.demo.workload import MadeUpConsumer

HOSTS_PER_SHRUNK = 40
"""One of so many hosts that could be over-full is."""


@dataclass(frozen=True, slots=True, eq=False)
class Shrunk:
    """A provider whose inventories are replaced by smaller ones."""

    uuid: str
    inventories: Mapping[str, Mapping[str, Any]]


def shrunk_host(
    host: MadeUpHost, consumers: Sequence[MadeUpConsumer], source: random.Random
) -> Shrunk | None:
    """Return a form of the host that is smaller than its use, or None if nothing is in use: memory modules failed, or the ratio was lowered after the fact."""
    given = host.root.inventories
    if "MEMORY_MB" not in given or "VCPU" not in given:
        return None
    used = {
        name: sum(each.allocations.get(host.root.uuid, {}).get(name, 0) for each in consumers)
        for name in ("MEMORY_MB", "VCPU")
    }
    if not all(used.values()):
        return None
    if source.random() < 0.5:
        memory = given["MEMORY_MB"]
        total = memory.get("reserved", 0) + used["MEMORY_MB"] * 15 // 16
        return Shrunk(host.root.uuid, {**given, "MEMORY_MB": {**memory, "total": total // GIB * GIB}})
    processors = given["VCPU"]
    ratio = round(used["VCPU"] * 0.85 / processors["total"], 2)
    return Shrunk(host.root.uuid, {**given, "VCPU": {**processors, "allocation_ratio": max(ratio, 0.01)}})


def searches(cloud: Cloud) -> Iterator[str]:
    """Yield queries for candidates that find nothing in this cloud, whatever its size."""
    naming = cloud.naming
    zone = naming.aggregate(ZONE_LABELS["a"], 0)
    yield "resources=VCPU:256,MEMORY_MB:524288,DISK_GB:100"
    yield f"resources={GOLD}:1"
    yield f"resources=VCPU:16,MEMORY_MB:65536&resources1={GPU}:1&required={LICENSED},{RDMA},HW_CPU_X86_AMD_SVM,HW_CPU_X86_AVX512F"
    yield f"resources=VCPU:4,MEMORY_MB:8192,DISK_GB:40&member_of={naming.aggregate(SPARE_LABEL, 0)}"
    yield f"resources=VCPU:2,MEMORY_MB:4096&member_of={zone}&member_of={naming.aggregate(ZONE_LABELS['b'], 0)}"
    yield "resources=VCPU:8,MEMORY_MB:16384,DISK_GB:40000&required=HW_CPU_X86_AVX2"
    yield "resources=DISK_GB:40&resources1=PCPU:64,MEMORY_MB:131072"
    yield "resources=VCPU:4,MEMORY_MB:3145728&required=CUSTOM_NVME"
    yield f"resources=VCPU:4,MEMORY_MB:16384&resources1=VGPU:2&member_of={naming.aggregate(DEDICATED_LABEL, 0)}"
    yield f"resources=VCPU:48,MEMORY_MB:393216&resources1={GPU}:2"
    yield "resources=VCPU:2,MEMORY_MB:2048&required=HW_ARCH_AARCH64"
