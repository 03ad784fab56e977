# SPDX-License-Identifier: Apache-2.0

"""Plan a made-up cloud: three zones, pods with a storage pool each, and hosts of several kinds in racks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.demo.hardware import DISABLED, GOLD, KINDS, LICENSED, HostKind, HostPlan, MadeUpHost, Node
from plimsoll.demo.naming import PROJECTS, Naming

ZONES = "abc"
ZONE_LABELS = {"a": "aaaaaaaa", "b": "bbbbbbbb", "c": "cccccccc"}
POOL_LABEL, DEDICATED_LABEL, SPARE_LABEL = "d15cd15c", "dedca7ed", "5fa9e000"
"""The first digits of the uuids of aggregates: pods with a pool of disks, dedicated hosts, and hosts that are to come."""

HOSTS_PER_POD = 320
DISABLED_SHARE, BARE_SHARE, EMPTY_SHARE, FULL_SHARE, DEDICATED_SHARE = 0.015, 0.004, 0.05, 0.07, 0.06
LARGEST = 200_000
"""Hosts of one made-up cloud."""


@dataclass(frozen=True, slots=True)
class Cloud:
    naming: Naming
    hosts: tuple[MadeUpHost, ...]
    pools: tuple[Node, ...]
    projects: tuple[str, ...]

    @property
    def nodes(self) -> int:
        """How many providers there are."""
        return len(self.pools) + sum(len(host.nodes) for host in self.hosts)


def plan_cloud(hosts: int, seed: int = 1, site: str = "") -> Cloud:
    """Return the cloud with this number of hosts. Equal arguments give equal clouds."""
    source = random.Random(f"cloud {seed}")
    naming = Naming(seed, site)
    kinds = _kinds(hosts)
    source.shuffle(kinds)
    pods = max(len(ZONES), -(-hosts // HOSTS_PER_POD)) if hosts >= len(ZONES) else 1
    pools = tuple(_pool(naming, pod, -(-hosts // pods)) for pod in range(pods))
    loads = [source.uniform(0.35, 0.85) for _ in range(pods)]
    planned = tuple(_hosts(naming, source, kinds, pools, loads))
    return Cloud(naming, planned, pools, tuple(PROJECTS[: 8 + hosts // 60]))


def _kinds(hosts: int) -> list[HostKind]:
    """Return the kind of each host: at least one of each kind, if there are enough hosts."""
    counts = {kind.name: max(1, round(hosts * kind.share)) for kind in KINDS}
    counts[KINDS[0].name] = max(1, hosts - sum(counts[kind.name] for kind in KINDS[1:]))
    return [kind for kind in KINDS for _ in range(counts[kind.name])][:hosts]


def _pool(naming: Naming, pod: int, hosts: int) -> Node:
    zone = ZONES[pod % len(ZONES)]
    name = naming.name(f"ceph-{zone}{pod // len(ZONES) + 1:02d}")
    inventory = {"total": hosts * 3000, "reserved": hosts * 100, "allocation_ratio": 1.0, "max_unit": 20_000}
    aggregates = (naming.aggregate(POOL_LABEL, pod + 1),)
    return Node(
        naming.uuid(name), name, None, {"DISK_GB": inventory}, ("MISC_SHARES_VIA_AGGREGATE",), aggregates
    )


def _hosts(
    naming: Naming, source: random.Random, kinds: list[HostKind], pools: tuple[Node, ...], loads: list[float]
) -> Iterator[MadeUpHost]:
    numbers: dict[tuple[str, str], int] = {}
    for position, kind in enumerate(kinds):
        pod = position % len(pools)
        zone = ZONES[pod % len(ZONES)]
        number = numbers[kind.name, zone] = numbers.get((kind.name, zone), -1) + 1
        shares = source.random() < kind.shares_storage
        aggregates = [naming.aggregate(ZONE_LABELS[zone], 0), pools[pod].aggregates[0]]
        if source.random() < DEDICATED_SHARE:
            aggregates.append(naming.aggregate(DEDICATED_LABEL, 0))
        plan = HostPlan(
            naming,
            naming.host(kind.name, zone, number),
            tuple(aggregates),
            _state_traits(source) if kind.name != "bm" else (),
            not shares,
            source,
        )
        nodes = tuple(kind.build(plan))
        if kind.name == "cmp" and source.random() < BARE_SHARE:
            nodes = (_without_inventory(nodes[0]),)
        fill = 1.0 if GOLD in nodes[0].inventories else _fill(source, loads[pod])
        yield MadeUpHost(kind.name, nodes, pools[pod] if shares else None, fill)


def _state_traits(source: random.Random) -> tuple[str, ...]:
    traits = [LICENSED] if source.random() < 0.1 else []
    return (*traits, DISABLED) if source.random() < DISABLED_SHARE else tuple(traits)


def _without_inventory(node: Node) -> Node:
    """Return a host whose agent has not reported yet."""
    return Node(node.uuid, node.name, node.parent, {}, node.traits, node.aggregates)


def _fill(source: random.Random, load: float) -> float:
    chance = source.random()
    if chance < EMPTY_SHARE:
        return 0.0
    if chance < EMPTY_SHARE + FULL_SHARE:
        return 1.0
    return min(1.0, max(0.05, source.gauss(load, 0.13)))
