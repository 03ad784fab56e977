# SPDX-License-Identifier: Apache-2.0

"""Fill the hosts of a made-up cloud with consumers, up to the share that each host is planned to have in use."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plimsoll.demo.cloud import Cloud
from plimsoll.demo.hardware import DISABLED, GIB, GOLD, GPU, QAT, SILVER, MadeUpHost, Node
from plimsoll.demo.naming import USERS, random_uuid

Amounts = Mapping[str, int]
Free = dict[tuple[str, str], int]
"""The free amounts by provider and resource class."""


@dataclass(frozen=True, slots=True, eq=False)
class Flavor:
    """A shape of instances: groups of resources, each of which one provider serves."""

    groups: tuple[Amounts, ...]

    @property
    def query(self) -> str:
        """The parameters of a search for it."""
        plain = ",".join(f"{name}:{amount}" for name, amount in self.groups[0].items())
        rest = [
            f"resources{number}={','.join(f'{name}:{amount}' for name, amount in group.items())}"
            for number, group in enumerate(self.groups[1:], 1)
        ]
        policy = ["group_policy=none"] if len(rest) > 1 else []
        return "&".join((f"resources={plain}", *rest, *policy))


def _shape(vcpus: int, gibibytes: int, disk: int, *devices: Amounts) -> Flavor:
    return Flavor(({"VCPU": vcpus, "MEMORY_MB": gibibytes * GIB, "DISK_GB": disk}, *devices))


def _pinned_shape(cores: int, gibibytes: int, disk: int) -> Flavor:
    return Flavor(({"DISK_GB": disk}, {"PCPU": cores, "MEMORY_MB": gibibytes * GIB}))


_BALANCED = (_shape(2, 4, 20), _shape(4, 8, 40), _shape(8, 16, 80), _shape(8, 32, 80), _shape(16, 64, 160))
_MEMORY_HEAVY = (_shape(2, 32, 40), _shape(4, 64, 40), _shape(8, 128, 80))
_PORT = {"SRIOV_NET_VF": 1, "NET_BW_EGR_KILOBIT_PER_SEC": 1_000_000, "NET_BW_IGR_KILOBIT_PER_SEC": 1_000_000}
FLAVORS: Mapping[str, tuple[Flavor, ...]] = {
    "cmp": _BALANCED,
    "mem": (_shape(8, 128, 100), _shape(16, 256, 200), _shape(32, 512, 400)),
    "pin": (_pinned_shape(4, 16, 40), _pinned_shape(8, 32, 80), _pinned_shape(16, 64, 160)),
    "gpu": (
        _shape(24, 180, 500, {GPU: 1}),
        _shape(48, 360, 1000, {GPU: 1}, {GPU: 1}),
        _shape(24, 180, 500, {GPU: 1}, {QAT: 2}),
    ),
    "vdi": (_shape(4, 16, 80, {"VGPU": 1}), _shape(8, 32, 80, {"VGPU": 1})),
    "net": (_shape(4, 8, 40, _PORT), _shape(8, 16, 40, _PORT, _PORT)),
    "bm": (Flavor(({GOLD: 1},)), Flavor(({SILVER: 1},))),
}
FRAGMENTED_SHARE = 0.12
"""Of the general hosts: memory is used up there while processors are free."""
_TYPES: Mapping[str | None, float] = {"INSTANCE": 0.955, "MIGRATION": 0.02, "RESERVATION": 0.015, None: 0.01}
_FAILED_PLACEMENTS = 4
"""Flavors that do not fit in succession until a host counts as full."""


@dataclass(frozen=True, slots=True, eq=False)
class MadeUpConsumer:
    uuid: str
    project: str
    user: str
    type: str | None
    """None for a consumer that an old client wrote."""
    allocations: Mapping[str, Mapping[str, int]]


def consumers_of(cloud: Cloud) -> Iterator[list[MadeUpConsumer]]:
    """Yield the consumers of each host. Storage pools are shared, so hosts are filled in their order."""
    source = random.Random(f"consumers {cloud.naming.seed} {cloud.naming.site}")
    weights = [1 / (rank + 2) for rank in range(len(cloud.projects))]
    pool_free: Free = {}
    for pool in cloud.pools:
        pool_free |= free_amounts((pool,))
    for host in cloud.hosts:
        owner = source.choices(cloud.projects, weights)[0]
        others = source.choices(cloud.projects, weights, k=4)
        yield list(_fill(host, source, [owner, owner, *others], pool_free))


def free_amounts(nodes: Sequence[Node]) -> Free:
    """Return the capacity of each inventory."""
    return {
        (node.uuid, name): int(
            (given["total"] - given.get("reserved", 0)) * given.get("allocation_ratio", 1.0)
        )
        for node in nodes
        for name, given in node.inventories.items()
    }


def _fill(
    host: MadeUpHost, source: random.Random, projects: list[str], pool_free: Free
) -> Iterator[MadeUpConsumer]:
    if not host.fill or (DISABLED in host.root.traits and source.random() < 0.5):
        return
    nodes = host.nodes if host.pool is None else (*host.nodes, host.pool)
    free = free_amounts(host.nodes)
    if host.pool is not None:
        disk = host.pool.uuid, "DISK_GB"
        free[disk] = pool_free[disk]
    limits = {key: amount * (1 - host.fill) for key, amount in free.items() if key[1] in _MAIN}
    is_fragmented = host.kind == "cmp" and source.random() < FRAGMENTED_SHARE
    offered = {name for node in nodes for name in node.inventories}
    flavors = [
        each
        for each in (_MEMORY_HEAVY if is_fragmented else FLAVORS[host.kind])
        if all(offered.issuperset(group) for group in each.groups)
    ]
    if not flavors:
        return
    failed = 0
    while failed < _FAILED_PLACEMENTS and (
        not limits or any(free[key] > limit for key, limit in limits.items())
    ):
        allocations = place(source.choice(flavors), nodes, free)
        if allocations is None:
            failed += 1
            continue
        failed = 0
        yield MadeUpConsumer(
            random_uuid(source),
            source.choice(projects),
            source.choice(USERS),
            consumer_type(source),
            allocations,
        )
    if host.pool is not None:
        pool_free[disk] = free[disk]


_MAIN = frozenset({"MEMORY_MB", "PCPU", GPU, "VGPU"})
"""The classes by which the fill of a host is measured."""


def place(flavor: Flavor, nodes: Sequence[Node], free: Free) -> dict[str, dict[str, int]] | None:
    """Subtract a flavor from the free amounts and return its allocations; None if it does not fit.

    A group that no single provider has as a whole is divided: a disk may come from the storage pool.
    """
    placed: dict[str, dict[str, int]] = defaultdict(dict)
    taken: Free = {}
    for group in flavor.groups:
        whole = _provider_for(group, nodes, free, taken)
        parts = (
            [(whole, group)]
            if whole
            else [
                (_provider_for({name: amount}, nodes, free, taken), {name: amount})
                for name, amount in group.items()
            ]
        )
        for provider, amounts in parts:
            if provider is None:
                return None
            for name, amount in amounts.items():
                placed[provider][name] = placed[provider].get(name, 0) + amount
                taken[provider, name] = taken.get((provider, name), 0) + amount
    for key, amount in taken.items():
        free[key] -= amount
    return dict(placed)


def _provider_for(group: Amounts, nodes: Sequence[Node], free: Free, taken: Free) -> str | None:
    for node in nodes:
        if all(
            free.get((node.uuid, name), 0) - taken.get((node.uuid, name), 0) >= amount
            and amount <= node.inventories[name].get("max_unit", amount)
            for name, amount in group.items()
        ):
            return node.uuid
    return None


def consumer_type(source: random.Random) -> str | None:
    return source.choices([*_TYPES], [*_TYPES.values()])[0]
