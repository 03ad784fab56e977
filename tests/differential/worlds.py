# SPDX-License-Identifier: Apache-2.0

"""Random small clouds: the words that a world is spoken of in, and the requests that build one.

A world has ten to forty providers in trees of several shapes, some that share by aggregate (children
among them), odd ratios and units, traits, claims by several owners, and a few providers that are over-full.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.differential import claims
from tests.differential.requests import Dice, Request, Version, write
from tests.differential.state import State
from tests.differential.words import CLASSES, MOST_PROVIDERS, SHARES, TRAITS, Words, inventory

Look = Callable[[], State]


@dataclass(frozen=True, slots=True)
class Plan:
    """One provider to be made."""

    uuid: str
    name: str
    parent: str | None
    classes: tuple[str, ...]
    traits: tuple[str, ...] = ()
    aggregates: tuple[str, ...] = ()


def build(dice: Dice, vocabulary: Words, look: Look) -> Iterator[Request]:
    """The requests that make a world; after each, `look` shows what there is."""
    for name in CLASSES:
        if name.startswith("CUSTOM_"):
            yield write("world: class", "PUT", f"/resource_classes/{name}", in_force(dice, 7))
    for name in TRAITS:
        if name.startswith("CUSTOM_"):
            yield write("world: trait", "PUT", f"/traits/{name}", in_force(dice, 6))
    for plan in plans(dice, vocabulary):
        yield from provider(dice, plan, look)
    for _ in range(dice.number(6, 18)):
        yield claims.put(dice, vocabulary, look())
    for _ in range(dice.number(0, 3)):
        request = shrink(dice, look())
        if request is not None:
            yield request


def plans(dice: Dice, vocabulary: Words) -> list[Plan]:
    made: list[Plan] = []
    for number in range(dice.number(3, 7)):
        shape = dice.weighted(((flat, 3), (numa, 4), (network, 3), (sharing, 3), (wild, 2)))
        tree = shape(dice, vocabulary, f"t{number}")
        for copy in range(dice.weighted(((1, 3), (2, 3), (3, 1)))):
            if len(made) + len(tree) <= MOST_PROVIDERS - 4:
                made += tree if copy == 0 else twin(dice, tree, f"-{copy}")
    if not any(SHARES in plan.traits for plan in made):
        made += sharing(dice, vocabulary, "shared")
    return made


def twin(dice: Dice, tree: list[Plan], mark: str) -> list[Plan]:
    """The same tree again: clouds are made of equal hosts, and searches of choices between them."""
    renamed = {plan.uuid: dice.uuid() for plan in tree}
    return [
        replace(
            plan,
            uuid=renamed[plan.uuid],
            name=plan.name + mark,
            parent=None if plan.parent is None else renamed[plan.parent],
        )
        for plan in tree
    ]


def traits(dice: Dice, most: int = 3) -> tuple[str, ...]:
    return tuple(dice.some(TRAITS, most))


def aggregates(dice: Dice, vocabulary: Words) -> tuple[str, ...]:
    return tuple(dice.some(vocabulary.aggregates, 2)) if dice.chance(0.8) else ()


def flat(dice: Dice, vocabulary: Words, name: str) -> list[Plan]:
    classes = ("VCPU", "MEMORY_MB") + (("DISK_GB",) if dice.chance(0.6) else ())
    return [Plan(dice.uuid(), name, None, classes, traits(dice), aggregates(dice, vocabulary))]


def numa(dice: Dice, vocabulary: Words, name: str) -> list[Plan]:
    root = Plan(
        dice.uuid(),
        name,
        None,
        ("DISK_GB",) if dice.chance(0.5) else (),
        traits(dice),
        aggregates(dice, vocabulary),
    )
    made = [root]
    for cell in range(dice.number(1, 3)):
        node = Plan(
            dice.uuid(),
            f"{name}-numa{cell}",
            root.uuid,
            ("VCPU", "MEMORY_MB"),
            ("HW_NUMA_ROOT", *traits(dice, 1)),
        )
        made.append(node)
        for device in range(dice.number(0, 2)):
            what = dice.pick((("SRIOV_NET_VF",), ("VGPU",), ("SRIOV_NET_VF", "CUSTOM_BW")))
            made.append(Plan(dice.uuid(), f"{name}-dev{cell}{device}", node.uuid, what, traits(dice, 2)))
    return made


def network(dice: Dice, vocabulary: Words, name: str) -> list[Plan]:
    root = Plan(
        dice.uuid(), name, None, ("VCPU", "MEMORY_MB", "DISK_GB"), traits(dice), aggregates(dice, vocabulary)
    )
    agent = Plan(dice.uuid(), f"{name}-agent", root.uuid, (), traits(dice))
    ports = [
        Plan(
            dice.uuid(),
            f"{name}-port{n}",
            agent.uuid,
            ("CUSTOM_BW",),
            traits(dice),
            aggregates(dice, vocabulary),
        )
        for n in range(dice.number(1, 3))
    ]
    return [root, agent, *ports]


def sharing(dice: Dice, vocabulary: Words, name: str) -> list[Plan]:
    what = tuple(dice.some(("DISK_GB", "CUSTOM_GOLD_UNIT", "SRIOV_NET_VF", "VCPU"), 2, 1))
    groups = tuple(dice.some(vocabulary.aggregates, 3, 1))
    root = Plan(dice.uuid(), name, None, what, (SHARES, *traits(dice, 1)), groups)
    if dice.chance(0.75):
        return [root]
    host = Plan(
        dice.uuid(), f"{name}-host", None, ("VCPU", "MEMORY_MB"), traits(dice), aggregates(dice, vocabulary)
    )
    return [host, Plan(root.uuid, name, host.uuid, what, root.traits, groups)]


def wild(dice: Dice, vocabulary: Words, name: str) -> list[Plan]:
    made: list[Plan] = []
    for number in range(dice.number(1, 7)):
        parent = dice.pick(made).uuid if made else None
        what = tuple(dice.some(CLASSES, 3))
        extra = (SHARES,) if dice.chance(0.08) else ()
        made.append(
            Plan(
                dice.uuid(),
                f"{name}-{number} \N{GREEK SMALL LETTER PI}" if dice.chance(0.1) else f"{name}-{number}",
                parent,
                what,
                (*traits(dice), *extra),
                aggregates(dice, vocabulary),
            )
        )
    return made


def provider(dice: Dice, plan: Plan, look: Look) -> Iterator[Request]:
    """Make one provider as planned, with the generations that are current at each step."""
    body: dict[str, Any] = {"name": plan.name, "uuid": plan.uuid}
    if plan.parent:
        body["parent_provider_uuid"] = plan.parent
    since = 14 if plan.parent else 0
    yield write("world: provider", "POST", "/resource_providers", in_force(dice, since), body)
    here = f"/resource_providers/{plan.uuid}"
    if plan.classes:
        body = {
            "resource_provider_generation": look().providers[plan.uuid].generation,
            "inventories": {name: inventory(dice, name) for name in plan.classes},
        }
        yield write("world: inventories", "PUT", f"{here}/inventories", in_force(dice, 26), body)
    if plan.traits:
        body = {
            "resource_provider_generation": look().providers[plan.uuid].generation,
            "traits": sorted(set(plan.traits)),
        }
        yield write("world: traits", "PUT", f"{here}/traits", in_force(dice, 6), body)
    if plan.aggregates:
        body = {
            "resource_provider_generation": look().providers[plan.uuid].generation,
            "aggregates": list(plan.aggregates),
        }
        yield write("world: aggregates", "PUT", f"{here}/aggregates", in_force(dice, 19), body)


def in_force(dice: Dice, since: int) -> Version:
    """A version in which the feature surely exists: a world must come to be."""
    while True:
        version = dice.version(since)
        if version >= since:
            return version


def shrink(dice: Dice, state: State) -> Request | None:
    """Make an inventory smaller than what is already used of it."""
    used = sorted({(provider, name) for _, provider, name in state.allocations})
    if not used:
        return None
    provider, name = dice.pick(used)
    body = {"resource_provider_generation": state.providers[provider].generation, "total": 1}
    path = f"/resource_providers/{provider}/inventories/{name}"
    return write("world: shrink", "PUT", path, dice.version(), body)
