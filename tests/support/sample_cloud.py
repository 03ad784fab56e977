# SPDX-License-Identifier: Apache-2.0

"""A small cloud with fixed names and uuids, created through the Placement API: examples and tests are read on it.

Against a service: `python -m tests.support.sample_cloud http://127.0.0.1:8778`. It has 14 hosts and a storage pool:

    node-01 to node-04        32 VCPU (ratio 2), 128 GB, 1 TB; racks A and B; node-03 and node-04 have AVX512F
    node-05                   full: no memory is free
    node-06                   COMPUTE_STATUS_DISABLED
    node-07                   over-full: its inventory was reduced below what is used
    node-08                   an instance may have 4 VCPU at most (max_unit)
    numa-01, numa-02          two NUMA nodes each; numa-01 has its network card on node 0, numa-02 on node 1; AVX512F
    gpu-01, gpu-02            with 4 and 2 GPUs, each a provider
    diskless-01, diskless-02  no disk: they use the pool nfs-1, which shares its DISK_GB with their aggregate
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Send = Callable[[str, str, Any], tuple[int, Any]]
"""Sends a method, a path and a body (or None) at microversion 1.39; returns the status and the JSON of the response."""

VERSION = "1.39"
AVX512F, NUMA_ROOT, GPU = "HW_CPU_X86_AVX512F", "HW_NUMA_ROOT", "CUSTOM_GPU_A100"
VIRTIO, SHARES, DISABLED = (
    "COMPUTE_NET_VIF_MODEL_VIRTIO",
    "MISC_SHARES_VIA_AGGREGATE",
    "COMPUTE_STATUS_DISABLED",
)


def _uuid(kind: str, number: int) -> str:
    return f"{kind * 8}-0000-4000-8000-{number:012}"


RACK_A, RACK_B, STORAGE, SPARE_RACK = (_uuid("a", number) for number in (1, 2, 3, 4))
"""Aggregates. No provider is in SPARE_RACK."""
ENGINES, LOOMS = _uuid("e", 1), _uuid("e", 2)
"""Projects."""
ADA, JACQUARD = _uuid("f", 1), _uuid("f", 2)
"""Users."""


@dataclass(frozen=True)
class SampleProvider:
    name: str
    uuid: str
    inventories: dict[str, dict[str, Any]] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()
    parent: str | None = None


@dataclass(frozen=True)
class SampleConsumer:
    uuid: str
    allocations: dict[str, dict[str, int]]
    """Amounts by class, by the name of the provider."""
    project: str = ENGINES
    user: str = ADA
    type: str = "INSTANCE"


def _inventories(
    vcpu: int, memory_gb: int, disk_gb: int = 0, **vcpu_fields: Any
) -> dict[str, dict[str, Any]]:
    found = {
        "VCPU": {"total": vcpu, "allocation_ratio": 2.0, **vcpu_fields},
        "MEMORY_MB": {"total": memory_gb * 1024, "reserved": 2048},
    }
    return found | ({"DISK_GB": {"total": disk_gb}} if disk_gb else {})


def _host(
    number: int,
    name: str,
    inventories: dict[str, Any],
    traits: tuple[str, ...] = (),
    aggregates: tuple[str, ...] = (),
) -> SampleProvider:
    return SampleProvider(name, _uuid("0", number), inventories, traits, aggregates)


def _children(
    parent: SampleProvider, *children: tuple[str, dict[str, Any], tuple[str, ...]]
) -> list[SampleProvider]:
    first = int(parent.uuid[-12:]) * 100
    return [
        SampleProvider(
            f"{parent.name}-{name}", _uuid("0", first + number), inventories, traits, (), parent.name
        )
        for number, (name, inventories, traits) in enumerate(children)
    ]


def _numa_host(number: int, name: str, card_on: int) -> list[SampleProvider]:
    """A host with two NUMA nodes of 16 processors and 64 GB, and a card with 8 virtual functions below one of them."""
    root = _host(number, name, {"DISK_GB": {"total": 2000}}, (VIRTIO,), (RACK_B,))
    piece = {"VCPU": {"total": 16}, "MEMORY_MB": {"total": 65536, "step_size": 256}}
    nodes = _children(root, *((f"node{each}", piece, (NUMA_ROOT, AVX512F)) for each in (0, 1)))
    card = SampleProvider(
        f"{name}-card",
        _uuid("0", number * 100 + 10),
        {"SRIOV_NET_VF": {"total": 8}},
        (),
        (),
        nodes[card_on].name,
    )
    return [root, *nodes, card]


def _gpu_host(number: int, name: str, gpus: int) -> list[SampleProvider]:
    root = _host(number, name, _inventories(32, 256, 2000), (VIRTIO,), (RACK_B,))
    return [root, *_children(root, *((f"gpu{each}", {"PGPU": {"total": 1}}, (GPU,)) for each in range(gpus)))]


NODE = _inventories(32, 128, 1000)
PROVIDERS: tuple[SampleProvider, ...] = (
    _host(1, "node-01", NODE, (VIRTIO,), (RACK_A,)),
    _host(2, "node-02", NODE, (VIRTIO,), (RACK_A,)),
    _host(3, "node-03", NODE, (VIRTIO, AVX512F), (RACK_A,)),
    _host(4, "node-04", NODE, (VIRTIO, AVX512F), (RACK_B,)),
    _host(5, "node-05", NODE, (VIRTIO, AVX512F), (RACK_A,)),
    _host(6, "node-06", NODE, (VIRTIO, DISABLED), (RACK_A,)),
    _host(7, "node-07", NODE, (VIRTIO,), (RACK_B,)),
    _host(8, "node-08", _inventories(32, 128, 1000, max_unit=4), (VIRTIO,), (RACK_B,)),
    *_numa_host(9, "numa-01", card_on=0),
    *_numa_host(10, "numa-02", card_on=1),
    *_gpu_host(11, "gpu-01", gpus=4),
    *_gpu_host(12, "gpu-02", gpus=2),
    _host(13, "diskless-01", _inventories(32, 128), (VIRTIO,), (RACK_A, STORAGE)),
    _host(14, "diskless-02", _inventories(32, 128), (VIRTIO,), (RACK_B, STORAGE)),
    _host(15, "nfs-1", {"DISK_GB": {"total": 20000, "reserved": 1000}}, (SHARES,), (STORAGE,)),
)
UUIDS = {provider.name: provider.uuid for provider in PROVIDERS}
HOSTS = tuple(each.name for each in PROVIDERS if each.parent is None and each.name != "nfs-1")


def _use(vcpu: int, memory_gb: int, disk_gb: int = 0) -> dict[str, int]:
    amounts = {"VCPU": vcpu, "MEMORY_MB": memory_gb * 1024, "DISK_GB": disk_gb}
    return {name: amount for name, amount in amounts.items() if amount}


CONSUMERS: tuple[SampleConsumer, ...] = (
    SampleConsumer(_uuid("c", 1), {"node-01": _use(16, 64, 200)}),
    SampleConsumer(_uuid("c", 2), {"node-01": _use(8, 32, 100)}, LOOMS, JACQUARD),
    SampleConsumer(_uuid("c", 3), {"node-02": _use(48, 32, 100)}),
    SampleConsumer(_uuid("c", 4), {"node-03": _use(32, 96, 400)}, LOOMS, JACQUARD),
    SampleConsumer(_uuid("c", 5), {"node-04": _use(16, 104, 100)}),
    SampleConsumer(_uuid("c", 6), {"node-05": _use(16, 94, 100)}),
    SampleConsumer(_uuid("c", 7), {"node-05": _use(8, 32, 100)}, LOOMS, JACQUARD),
    SampleConsumer(_uuid("c", 8), {"node-07": _use(40, 96, 500)}),
    SampleConsumer(_uuid("c", 9), {"node-08": _use(4, 16, 50)}, LOOMS, JACQUARD),
    SampleConsumer(_uuid("c", 10), {"numa-01": {"DISK_GB": 100}, "numa-01-node0": _use(12, 48)}),
    SampleConsumer(
        _uuid("c", 11),
        {"numa-02": {"DISK_GB": 100}, "numa-02-node1": _use(14, 32), "numa-02-card": {"SRIOV_NET_VF": 6}},
        LOOMS,
        JACQUARD,
    ),
    SampleConsumer(_uuid("c", 12), {"gpu-01": _use(16, 128, 500), "gpu-01-gpu0": {"PGPU": 1}}),
    SampleConsumer(
        _uuid("c", 13), {"gpu-02": _use(32, 192, 500), "gpu-02-gpu0": {"PGPU": 1}, "gpu-02-gpu1": {"PGPU": 1}}
    ),
    SampleConsumer(_uuid("c", 14), {"diskless-01": _use(24, 96), "nfs-1": {"DISK_GB": 6000}}),
    SampleConsumer(_uuid("c", 15), {"diskless-02": _use(8, 24), "nfs-1": {"DISK_GB": 500}}, LOOMS, JACQUARD),
    SampleConsumer(_uuid("c", 16), {"node-08": _use(4, 16, 50)}, LOOMS, JACQUARD, "MIGRATION"),
)

SHRUNK = ("node-07", _inventories(16, 64, 1000))
"""This host gets this inventory after its consumers have claimed theirs, so it is over-full."""


def create(send: Send) -> None:
    """Create the cloud. Raise RuntimeError on the first request that is refused."""

    def call(method: str, path: str, body: Any = None) -> Any:
        status, answer = send(method, path, body)
        if status >= 300:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    call("PUT", f"/traits/{GPU}")
    for provider in PROVIDERS:
        parent = None if provider.parent is None else UUIDS[provider.parent]
        body = {"name": provider.name, "uuid": provider.uuid, "parent_provider_uuid": parent}
        generation = call("POST", "/resource_providers", body)["generation"]
        for part, value in (
            ("inventories", provider.inventories),
            ("traits", provider.traits),
            ("aggregates", provider.aggregates),
        ):
            if value:
                change = {part: value, "resource_provider_generation": generation}
                answer = call("PUT", f"/resource_providers/{provider.uuid}/{part}", change)
                generation = answer["resource_provider_generation"]
    for consumer in CONSUMERS:
        call("PUT", f"/allocations/{consumer.uuid}", _claim(consumer))
    name, inventories = SHRUNK
    generation = call("GET", f"/resource_providers/{UUIDS[name]}")["generation"]
    change = {"inventories": inventories, "resource_provider_generation": generation}
    call("PUT", f"/resource_providers/{UUIDS[name]}/inventories", change)


def _claim(consumer: SampleConsumer) -> dict[str, Any]:
    allocations = {UUIDS[name]: {"resources": amounts} for name, amounts in consumer.allocations.items()}
    return {
        "allocations": allocations,
        "project_id": consumer.project,
        "user_id": consumer.user,
        "consumer_type": consumer.type,
        "consumer_generation": None,
    }


def create_at(url: str, token: str = "admin") -> None:
    """Create the cloud in the service at this URL."""

    def send(method: str, path: str, body: Any) -> tuple[int, Any]:
        headers = {"x-auth-token": token, "openstack-api-version": f"placement {VERSION}"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        request = urllib.request.Request(url.rstrip("/") + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                received = response.read()
                return response.status, json.loads(received) if received else None
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    create(send)


if __name__ == "__main__":
    create_at(*sys.argv[1:])
