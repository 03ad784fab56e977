# SPDX-License-Identifier: Apache-2.0

"""The datasets of the benchmarks. Each is a function from a size to rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.datasets.rows import SHARING, Rows

TRAITS = (
    "COMPUTE_VOLUME_MULTI_ATTACH",
    "COMPUTE_NODE",
    "COMPUTE_TRUSTED_CERTS",
    "COMPUTE_ACCELERATORS",
    "COMPUTE_DEVICE_TAGGING",
    "HW_CPU_X86_AVX",
    "HW_CPU_X86_AVX2",
    "HW_CPU_X86_SSE42",
    "HW_CPU_X86_VMX",
    "STORAGE_DISK_SSD",
)

# Capacity for some hundred thousand claims, so that a fast service does not run out of it.
LARGE_INVENTORY: Mapping[str, int | Mapping[str, Any]] = {
    "VCPU": {"total": 128, "allocation_ratio": 16.0},
    "MEMORY_MB": {"total": 1_048_576, "reserved": 512, "allocation_ratio": 1.5},
    "DISK_GB": 100_000,
}

SMALL = {"VCPU": 4, "MEMORY_MB": 8192, "DISK_GB": 40}

PROJECT = "engines"
PROJECT_CONSUMERS = 1_200
"""Number of consumers in the project whose usages are read."""

DEVICE = "CUSTOM_PCI_DEVICE"
DEVICES = 8


def flat(size: int = 1_000) -> Rows:
    """Hosts without children: three classes, ten traits, two aggregates each (upstream's perfload shape)."""
    rows = Rows()
    for number in range(size):
        rows.provider(LARGE_INVENTORY, TRAITS, aggregates=(number % 10, 10 + number % 3))
    return rows


def with_allocations(size: int = 10_000, each: int = 10) -> Rows:
    """The flat dataset with allocations: `each` consumers on each host."""
    rows = flat(size)
    for host in range(1, size + 1):
        for number in range(each):
            amounts = {"VCPU": 4, "MEMORY_MB": 8192, "DISK_GB": 40}
            rows.consumer(f"project-{(host + number) % 500}", f"user-{host % 1000}", {host: amounts})
    return rows


def nested(trees: int = 300, *, full: bool = False) -> Rows:
    """Trees of seven: a host with disk, two NUMA nodes, two devices below each (upstream's nested perfload).

    With `full`, consumers use all processors of the second NUMA node, except for 2 in one tree of 20.
    """
    rows = Rows()
    for number in range(trees):
        host = rows.provider({"DISK_GB": 20_480}, ["COMPUTE_VOLUME_MULTI_ATTACH"])
        first = rows.provider(
            {
                "VCPU": {"total": 4, "reserved": 2},
                "MEMORY_MB": {"total": 2048, "min_unit": 512, "step_size": 256},
            },
            ["HW_NUMA_ROOT"],
            parent=host,
        )
        rows.provider({"FPGA": 1}, parent=first)
        rows.provider({"VGPU": 8}, parent=first)
        second = rows.provider(
            {"VCPU": 4, "MEMORY_MB": {"total": 2048, "min_unit": 256, "max_unit": 1024}},
            ["HW_NUMA_ROOT", "CUSTOM_FOO"],
            parent=host,
        )
        rows.provider({"FPGA": 1}, parent=second)
        rows.provider({"FPGA": 1}, parent=second)
        for _ in range((1 if number % 20 == 7 else 2) if full else 0):
            rows.consumer(f"project-{number % 50}", "user", {second: {"VCPU": 2, "MEMORY_MB": 512}})
    return rows


def devices(hosts: int = 20) -> Rows:
    """Hosts with eight one-unit PCI devices each."""
    rows = Rows()
    for _ in range(hosts):
        host = rows.provider({"VCPU": 64, "MEMORY_MB": 262_144, "DISK_GB": 2_000}, ["COMPUTE_NODE"])
        for _ in range(DEVICES):
            rows.provider({DEVICE: 1}, ["HW_NIC_SRIOV"], parent=host)
    return rows


def shared(hosts: int = 1_000, pools: int = 10, *, full: bool = False) -> Rows:
    """Hosts without own disk, on shared storage pools.

    With `full`, ten consumers use 1,020 of the 1,024 processors of each host, and nine of one host in 20.
    """
    rows = Rows()
    for number in range(pools):
        rows.provider({"DISK_GB": 10_000_000}, [SHARING], aggregates=(number,))
    for number in range(hosts):
        host = rows.provider(
            {"VCPU": {"total": 64, "max_unit": 1_024, "allocation_ratio": 16.0}, "MEMORY_MB": 262_144}
            if full
            else {"VCPU": {"total": 64, "allocation_ratio": 16.0}, "MEMORY_MB": 262_144},
            ["COMPUTE_NODE"],
            aggregates=(number % pools,),
        )
        for _ in range((9 if number % 20 == 7 else 10) if full else 0):
            rows.consumer(
                f"project-{number % 50}",
                "user",
                {host: {"VCPU": 102, "MEMORY_MB": 8192}, 1 + number % pools: {"DISK_GB": 40}},
            )
    return rows


def busy(hosts: int = 1_000) -> Rows:
    """A cloud at 95 % use: 38 of 40 processors are used on most hosts, and 4 are free on one host in 20."""
    rows = Rows()
    consumers = 0
    for number in range(hosts):
        inventories = {"VCPU": 40, "MEMORY_MB": 131_072, "DISK_GB": 2_000}
        host = rows.provider(inventories, TRAITS, aggregates=(number % 10,))
        instances = [4] * 9 if number % 20 == 7 else [4] * 9 + [2]
        for processors in instances:
            consumers += 1
            # Spread over the hosts, as the instances of a real project.
            in_project = consumers % 8 == 0 and consumers // 8 <= PROJECT_CONSUMERS
            project = PROJECT if in_project else f"project-{consumers % 50}"
            amounts = {"VCPU": processors, "MEMORY_MB": 2048 * processors, "DISK_GB": 10 * processors}
            rows.consumer(project, f"user-{consumers % 200}", {host: amounts})
    assert consumers // 8 >= PROJECT_CONSUMERS
    return rows
