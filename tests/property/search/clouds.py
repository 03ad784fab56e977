# SPDX-License-Identifier: Apache-2.0

"""Random small clouds, and requests of which about half can be served, often in many ways.

They are drawn from a `random.Random` that hypothesis seeds: all features must occur together often enough, and these
probabilities are easier to set by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TypeVar

from hypothesis import strategies as st

from plimsoll.domain.catalog import Catalog, CatalogEntry
from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.world import World
from plimsoll.search.request import AnyOf, CandidatesRequest, Conditions, Group

T = TypeVar("T")
Case = tuple[list[Provider], CandidatesRequest]

CLASSES = ["VCPU", "DISK_GB", "PCI"]
TRAITS = ["FAST", "BIG", "RED"]
AGGREGATES = ["x", "y", "z"]

_CLASSES = Catalog(CatalogEntry(number, name) for number, name in enumerate(CLASSES))
_TRAITS = Catalog(CatalogEntry(number, name) for number, name in enumerate([*TRAITS, SHARING_TRAIT]))


def world_of(providers: list[Provider]) -> World:
    return World.of(providers, classes=_CLASSES, traits=_TRAITS)


class Dice:
    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, odds: float) -> bool:
        return self.random.random() < odds

    def one_of(self, *items: T) -> T:
        return self.random.choice(items)

    def some(self, items: Iterable[T], odds: float) -> frozenset[T]:
        return frozenset(item for item in items if self.chance(odds))

    def any_ofs(self, items: list[str]) -> tuple[AnyOf, ...]:
        return tuple(
            frozenset(self.random.sample(items, self.one_of(1, 1, 2))) for _ in range(self.one_of(1, 1, 2))
        )

    def provider(
        self, number: int, parent: Provider | None, shares: bool, has: dict[str, Inventory]
    ) -> Provider:
        uuid = f"p{number}"
        return Provider(
            id=number,
            uuid=uuid,
            name=uuid,
            root=parent.root if parent else uuid,
            parent=parent.uuid if parent else None,
            inventories=has,
            used={name: self.one_of(1, 1, 2) for name in has if self.chance(0.2)},
            traits=self.some(TRAITS, 0.4) | self.some([SHARING_TRAIT], shares),
            aggregates=self.some(AGGREGATES, self.one_of(0.1, 0.5)),
        )

    def inventory(self) -> Inventory:
        if self.chance(0.7):
            return Inventory(self.random.randint(1, 8))
        return Inventory(
            total=self.random.randint(2, 8),
            reserved=self.one_of(0, 1),
            min_unit=self.one_of(1, 1, 2),
            max_unit=self.random.randint(1, 8),
            step_size=self.one_of(1, 1, 2),
            allocation_ratio=self.one_of(1.0, 0.5, 1.5, 0.9),
        )

    def conditions(self, known: list[Provider], odds: float) -> Conditions:
        return Conditions(
            required=self.any_ofs(TRAITS) if self.chance(odds) else (),
            forbidden=self.some(TRAITS, 0.3) if self.chance(odds) else frozenset(),
            member_of=self.any_ofs(AGGREGATES) if self.chance(odds / 2) else (),
            not_member_of=self.some(AGGREGATES, 0.3) if self.chance(odds / 2) else frozenset(),
            in_tree=self.random.choice(known).uuid if self.chance(odds / 3) else None,
        )

    def request(self, known: list[Provider], groups: list[Group]) -> CandidatesRequest:
        suffixes = [group.suffix for group in groups if group.suffix]
        subtrees = [self.some(suffixes, 0.7) for _ in range(self.one_of(0, 0, 1, 2))]
        self.random.shuffle(groups)
        return CandidatesRequest(
            groups=tuple(groups),
            group_policy=self.one_of(None, "none", "isolate"),
            root_required=self.some(TRAITS, 0.3) if self.chance(0.1) else frozenset(),
            root_forbidden=self.some(TRAITS, 0.3) if self.chance(0.1) else frozenset(),
            same_subtrees=tuple(subtree for subtree in subtrees if subtree),
            nested=self.chance(0.7),
        )


def random_case(random: Random) -> Case:
    """Trees, sharing providers, both or neither, and up to four groups with all kinds of conditions."""
    dice = Dice(random)
    nested, sharing, density = dice.one_of(0.0, 0.6, 0.8), dice.one_of(0.0, 0.3), dice.one_of(0.4, 0.8)
    providers: list[Provider] = []
    for number in range(1, random.randint(2, 8)):
        parent = random.choice(providers) if providers and dice.chance(nested) else None
        has = {name: dice.inventory() for name in CLASSES if dice.chance(density)}
        providers.append(dice.provider(number, parent, dice.chance(sharing), has))
    groups: list[Group] = []
    if dice.chance(0.7):
        wanted = {
            name: dice.one_of(1, 1, 1, 2, 3) for name in random.sample(CLASSES, dice.one_of(1, 2, 2, 3))
        }
        groups.append(Group("", wanted, dice.conditions(providers, 0.15)))
    for number in range(dice.one_of(0, 1, 1, 2, 3) if groups else dice.one_of(1, 2, 3)):
        wanted = {name: dice.one_of(1, 1, 1, 2) for name in random.sample(CLASSES, dice.one_of(1, 1, 2))}
        if groups and dice.chance(0.2):
            groups.append(Group(f"_{number}", {}, dice.conditions(providers, 0.6)))
        else:
            groups.append(Group(f"_{number}", wanted, dice.conditions(providers, 0.12)))
    return providers, dice.request(providers, groups)


def device_case(random: Random) -> Case:
    """Two trees with a handful of devices at several levels, and many groups that compete for them."""
    dice = Dice(random)
    providers: list[Provider] = []
    for number in range(1, random.randint(5, 9)):
        parent = random.choice(providers) if number > 2 else None
        has = {name: Inventory(dice.one_of(1, 1, 2, 3)) for name in ("PCI", "VCPU") if dice.chance(0.8)}
        providers.append(dice.provider(number, parent, dice.chance(0.1), has))
    groups = [
        Group(
            f"_{number}",
            {dice.one_of("PCI", "PCI", "VCPU"): dice.one_of(1, 1, 1, 2)},
            dice.conditions(providers, 0.08),
        )
        for number in range(dice.one_of(3, 4, 4, 5))
    ]
    if dice.chance(0.4):
        groups[0] = Group("", {"VCPU": 1, "PCI": 1}, dice.conditions(providers, 0.2))
    return providers, dice.request(providers, groups)


def cases() -> st.SearchStrategy[Case]:
    seeded = st.randoms(use_true_random=True)
    return st.one_of(st.builds(random_case, seeded), st.builds(device_case, seeded))
