# SPDX-License-Identifier: Apache-2.0

"""Requests that create the random initial data of a seed.

It has ten to forty providers in trees of several shapes, some that share by aggregate (children among them), unusual
ratios and units, traits, claims by several owners, and a few providers that are over capacity.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.differential import claims
from tests.differential.requests import Request, SeededRandom, Version, write
from tests.differential.sample_data import CLASSES, MAX_PROVIDERS, SHARES, TRAITS, SampleData, inventory
from tests.differential.state import State

ReadState = Callable[[], State]


@dataclass(frozen=True, slots=True)
class Plan:
    """A provider to create."""

    uuid: str
    name: str
    parent: str | None
    classes: tuple[str, ...]
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


def build(rng: SeededRandom, data: SampleData, read_state: ReadState) -> Iterator[Request]:
    """Yield the requests; `read_state` returns the state after each of them."""
    for name in CLASSES:
        if name.startswith("CUSTOM_"):
            yield write("setup: class", "PUT", f"/resource_classes/{name}", version_with_feature(rng, 7))
    for name in TRAITS:
        if name.startswith("CUSTOM_"):
            yield write("setup: trait", "PUT", f"/traits/{name}", version_with_feature(rng, 6))
    for plan in plans(rng, data):
        yield from provider(rng, plan, read_state)
    for _ in range(rng.number(6, 18)):
        yield claims.put(rng, data, read_state())
    for _ in range(rng.number(0, 3)):
        request = shrink(rng, read_state())
        if request is not None:
            yield request


def plans(rng: SeededRandom, data: SampleData) -> list[Plan]:
    planned: list[Plan] = []
    for number in range(rng.number(3, 7)):
        shape = rng.weighted(((flat, 3), (numa, 4), (network, 3), (sharing, 3), (random_tree, 2)))
        tree = shape(rng, data, f"t{number}")
        for copy in range(rng.weighted(((1, 3), (2, 3), (3, 1)))):
            if len(planned) + len(tree) <= MAX_PROVIDERS - 4:
                planned += tree if copy == 0 else copy_of(rng, tree, f"-{copy}")
    if not any(SHARES in plan.traits for plan in planned):
        planned += sharing(rng, data, "shared")
    return planned


def copy_of(rng: SeededRandom, tree: list[Plan], suffix: str) -> list[Plan]:
    """Return a copy of the tree: real clouds have many equal hosts, and searches choose between them."""
    renamed = {plan.uuid: rng.uuid() for plan in tree}
    return [
        replace(
            plan,
            uuid=renamed[plan.uuid],
            name=plan.name + suffix,
            parent=None if plan.parent is None else renamed[plan.parent],
        )
        for plan in tree
    ]


def traits(rng: SeededRandom, most: int = 3) -> tuple[str, ...]:
    return tuple(rng.some(TRAITS, most))


def aggregates(rng: SeededRandom, data: SampleData) -> tuple[str, ...]:
    return tuple(rng.some(data.aggregates, 2)) if rng.chance(0.8) else ()


def flat(rng: SeededRandom, data: SampleData, name: str) -> list[Plan]:
    classes = ("VCPU", "MEMORY_MB") + (("DISK_GB",) if rng.chance(0.6) else ())
    return [Plan(rng.uuid(), name, None, classes, traits(rng), aggregates(rng, data))]


def numa(rng: SeededRandom, data: SampleData, name: str) -> list[Plan]:
    root = Plan(
        rng.uuid(), name, None, ("DISK_GB",) if rng.chance(0.5) else (), traits(rng), aggregates(rng, data)
    )
    planned = [root]
    for cell in range(rng.number(1, 3)):
        node = Plan(
            rng.uuid(),
            f"{name}-numa{cell}",
            root.uuid,
            ("VCPU", "MEMORY_MB"),
            ("HW_NUMA_ROOT", *traits(rng, 1)),
        )
        planned.append(node)
        for device in range(rng.number(0, 2)):
            classes = rng.pick((("SRIOV_NET_VF",), ("VGPU",), ("SRIOV_NET_VF", "CUSTOM_BW")))
            planned.append(Plan(rng.uuid(), f"{name}-dev{cell}{device}", node.uuid, classes, traits(rng, 2)))
    return planned


def network(rng: SeededRandom, data: SampleData, name: str) -> list[Plan]:
    root = Plan(rng.uuid(), name, None, ("VCPU", "MEMORY_MB", "DISK_GB"), traits(rng), aggregates(rng, data))
    agent = Plan(rng.uuid(), f"{name}-agent", root.uuid, (), traits(rng))
    ports = [
        Plan(rng.uuid(), f"{name}-port{n}", agent.uuid, ("CUSTOM_BW",), traits(rng), aggregates(rng, data))
        for n in range(rng.number(1, 3))
    ]
    return [root, agent, *ports]


def sharing(rng: SeededRandom, data: SampleData, name: str) -> list[Plan]:
    classes = tuple(rng.some(("DISK_GB", "CUSTOM_GOLD_UNIT", "SRIOV_NET_VF", "VCPU"), 2, 1))
    groups = tuple(rng.some(data.aggregates, 3, 1))
    root = Plan(rng.uuid(), name, None, classes, (SHARES, *traits(rng, 1)), groups)
    if rng.chance(0.75):
        return [root]
    host = Plan(rng.uuid(), f"{name}-host", None, ("VCPU", "MEMORY_MB"), traits(rng), aggregates(rng, data))
    return [host, Plan(root.uuid, name, host.uuid, classes, root.traits, groups)]


def random_tree(rng: SeededRandom, data: SampleData, name: str) -> list[Plan]:
    planned: list[Plan] = []
    for number in range(rng.number(1, 7)):
        parent = rng.pick(planned).uuid if planned else None
        classes = tuple(rng.some(CLASSES, 3))
        extra = (SHARES,) if rng.chance(0.08) else ()
        planned.append(
            Plan(
                rng.uuid(),
                f"{name}-{number} \N{GREEK SMALL LETTER PI}" if rng.chance(0.1) else f"{name}-{number}",
                parent,
                classes,
                (*traits(rng), *extra),
                aggregates(rng, data),
            )
        )
    return planned


def provider(rng: SeededRandom, plan: Plan, read_state: ReadState) -> Iterator[Request]:
    """Yield the requests that create one provider, each with the current generation."""
    body: dict[str, Any] = {"name": plan.name, "uuid": plan.uuid}
    if plan.parent:
        body["parent_provider_uuid"] = plan.parent
    since = 14 if plan.parent else 0
    yield write("setup: provider", "POST", "/resource_providers", version_with_feature(rng, since), body)
    path = f"/resource_providers/{plan.uuid}"
    if plan.classes:
        body = {
            "resource_provider_generation": read_state().providers[plan.uuid].generation,
            "inventories": {name: inventory(rng, name) for name in plan.classes},
        }
        yield write("setup: inventories", "PUT", f"{path}/inventories", version_with_feature(rng, 26), body)
    if plan.traits:
        body = {
            "resource_provider_generation": read_state().providers[plan.uuid].generation,
            "traits": sorted(set(plan.traits)),
        }
        yield write("setup: traits", "PUT", f"{path}/traits", version_with_feature(rng, 6), body)
    if plan.aggregates:
        body = {
            "resource_provider_generation": read_state().providers[plan.uuid].generation,
            "aggregates": list(plan.aggregates),
        }
        yield write("setup: aggregates", "PUT", f"{path}/aggregates", version_with_feature(rng, 19), body)


def version_with_feature(rng: SeededRandom, since: int) -> Version:
    """Return a version that has the feature: these requests must succeed."""
    while True:
        version = rng.version(since)
        if version >= since:
            return version


def shrink(rng: SeededRandom, state: State) -> Request | None:
    """Return a request that makes an inventory smaller than its usage."""
    used = sorted({(provider, name) for _, provider, name in state.allocations})
    if not used:
        return None
    provider, name = rng.pick(used)
    body = {"resource_provider_generation": state.providers[provider].generation, "total": 1}
    path = f"/resource_providers/{provider}/inventories/{name}"
    return write("setup: shrink", "PUT", path, rng.version(), body)
