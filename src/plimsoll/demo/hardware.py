# SPDX-License-Identifier: Apache-2.0

"""The kinds of hosts, and the provider trees that nova, neutron, cyborg and ironic report for them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.demo.naming import Naming

Inventories = dict[str, dict[str, Any]]

GPU = "CUSTOM_PCI_10DE_2330"
QAT = "CUSTOM_PCI_8086_4940"
GOLD, SILVER = "CUSTOM_BAREMETAL_GOLD", "CUSTOM_BAREMETAL_SILVER"
CUSTOM_CLASSES = (GPU, QAT, GOLD, SILVER)

RDMA, PHYSNET, LICENSED = "CUSTOM_RDMA", "CUSTOM_PHYSNET_DATACENTRE", "CUSTOM_LICENSED_WINDOWS"
NVME, PROFILE, VNIC = "CUSTOM_NVME", "CUSTOM_NVIDIA_GRID_A16", "CUSTOM_VNIC_TYPE_DIRECT"
CUSTOM_TRAITS = (RDMA, PHYSNET, LICENSED, NVME, PROFILE, VNIC)

DISABLED = "COMPUTE_STATUS_DISABLED"
_COMPUTE = (
    "COMPUTE_NODE",
    "COMPUTE_NET_ATTACH_INTERFACE",
    "COMPUTE_VOLUME_MULTI_ATTACH",
    "COMPUTE_TRUSTED_CERTS",
)
_PROCESSORS = (
    ("HW_CPU_X86_INTEL_VMX", "HW_CPU_X86_AVX2", "HW_CPU_X86_AESNI"),
    ("HW_CPU_X86_INTEL_VMX", "HW_CPU_X86_AVX2", "HW_CPU_X86_AESNI", "HW_CPU_X86_AVX512F"),
    ("HW_CPU_X86_AMD_SVM", "HW_CPU_X86_AVX2", "HW_CPU_X86_AESNI"),
)
GIB = 1024
"""In MEMORY_MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A provider to create."""

    uuid: str
    name: str
    parent: str | None = None
    inventories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MadeUpHost:
    """A host: its tree, the root first, and the storage pool that serves it."""

    kind: str
    nodes: tuple[Node, ...]
    pool: Node | None
    fill: float
    """The share of its main resource that is to be in use."""

    @property
    def root(self) -> Node:
        return self.nodes[0]


@dataclass(frozen=True, slots=True)
class HostPlan:
    """The place of a host in the cloud, from which its tree is built."""

    naming: Naming
    name: str
    aggregates: tuple[str, ...]
    traits: tuple[str, ...]
    has_local_disk: bool
    source: random.Random

    def root(self, inventories: Inventories, *traits: str) -> Node:
        all_traits = tuple(
            dict.fromkeys((*_COMPUTE, *self.source.choice(_PROCESSORS), *traits, *self.traits))
        )
        return Node(self.naming.uuid(self.name), self.name, None, inventories, all_traits, self.aggregates)

    def child(self, parent: Node, suffix: str, inventories: Inventories, *traits: str) -> Node:
        name = f"{parent.name}{suffix}"
        return Node(self.naming.uuid(name), name, parent.uuid, inventories, traits)

    def disk(self, gigabytes: int) -> Inventories:
        return {"DISK_GB": {"total": gigabytes, "reserved": 20}} if self.has_local_disk else {}


def processors(cores: int, ratio: float = 4.0) -> Inventories:
    return {"VCPU": {"total": cores, "allocation_ratio": ratio, "max_unit": cores}}


def memory(gibibytes: int, reserved: int = 8) -> Inventories:
    return {"MEMORY_MB": {"total": gibibytes * GIB, "reserved": reserved * GIB}}


def _general(plan: HostPlan) -> Iterator[Node]:
    cores, gibibytes = plan.source.choice(((64, 256), (96, 384), (128, 512)))
    yield plan.root(processors(cores) | memory(gibibytes) | plan.disk(cores * 30))


def _large_memory(plan: HostPlan) -> Iterator[Node]:
    yield plan.root(processors(128, 2.0) | memory(2048, 16) | plan.disk(7600), NVME)


def _pinned(plan: HostPlan) -> Iterator[Node]:
    """Yield a host with dedicated processors and huge pages per NUMA node."""
    root = plan.root(plan.disk(3800), NVME)
    yield root
    for number in range(2):
        shared = processors(8) if number == 0 else {}
        yield plan.child(
            root,
            f"_NUMA{number}",
            {"PCPU": {"total": 48, "max_unit": 48}} | shared | memory(192, 4),
            "HW_NUMA_ROOT",
        )


def _accelerated(plan: HostPlan) -> Iterator[Node]:
    """Yield a host with eight GPUs as PCI devices, each a provider, and two accelerators for compression."""
    root = plan.root(processors(192, 1.0) | memory(1536, 16) | plan.disk(15000), RDMA, NVME)
    yield root
    for number in range(8):
        yield plan.child(
            root, f"_0000:{0x1B + 16 * number:02x}:00.0", {GPU: _one()}, "COMPUTE_MANAGED_PCI_DEVICE"
        )
    yield plan.child(
        root, "_0000:e8:00.0", {QAT: {"total": 16, "max_unit": 16}}, "COMPUTE_MANAGED_PCI_DEVICE"
    )


def _desktops(plan: HostPlan) -> Iterator[Node]:
    """Yield a host with virtual GPUs for desktops."""
    root = plan.root(processors(64, 2.0) | memory(768) | plan.disk(3800), LICENSED)
    yield root
    for number in range(4):
        inventory = {"VGPU": {"total": 16, "max_unit": 1}}
        yield plan.child(root, f"_pci_0000_{0x41 + number:02x}_00_0", inventory, PROFILE)


def _network(plan: HostPlan) -> Iterator[Node]:
    """Yield a host with guaranteed bandwidth, as neutron's agent for SR-IOV reports it: a tree of three levels."""
    root = plan.root(processors(96, 2.0) | memory(384) | plan.disk(1900))
    agent = plan.child(root, ":NIC Switch agent", {})
    yield root
    yield agent
    for port in ("ens1f0np0", "ens1f1np1"):
        bandwidth = {"total": 25_000_000, "step_size": 1000, "max_unit": 25_000_000}
        inventories: Inventories = {
            "SRIOV_NET_VF": {"total": 64, "max_unit": 8},
            "NET_BW_EGR_KILOBIT_PER_SEC": dict(bandwidth),
            "NET_BW_IGR_KILOBIT_PER_SEC": dict(bandwidth),
        }
        yield plan.child(agent, f":{port}", inventories, PHYSNET, VNIC)


def _bare_metal(plan: HostPlan) -> Iterator[Node]:
    resource_class = GOLD if plan.source.random() < 0.4 else SILVER
    uuid = plan.naming.uuid(plan.name)
    yield Node(uuid, plan.name, None, {resource_class: _one()}, plan.traits, plan.aggregates)


def _one() -> dict[str, Any]:
    return {"total": 1, "max_unit": 1}


@dataclass(frozen=True, slots=True)
class HostKind:
    name: str
    share: float
    """Of all hosts."""
    build: Callable[[HostPlan], Iterator[Node]]
    shares_storage: float
    """The share of these hosts without a disk of their own."""


KINDS = (
    HostKind("cmp", 0.60, _general, 0.5),
    HostKind("mem", 0.08, _large_memory, 0.0),
    HostKind("pin", 0.13, _pinned, 0.2),
    HostKind("gpu", 0.05, _accelerated, 0.0),
    HostKind("vdi", 0.04, _desktops, 1.0),
    HostKind("net", 0.05, _network, 0.5),
    HostKind("bm", 0.05, _bare_metal, 0.0),
)
