# SPDX-License-Identifier: Apache-2.0

"""Random questions to GET /allocation_candidates, at every version that has them.

Groups ask mostly for what the world has. A question whose combinations would run into the thousands is
made smaller before it is asked, because the reference multiplies them all out.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from tests.differential.requests import Dice, Request, Version, read
from tests.differential.state import State
from tests.differential.words import CLASSES, SHARES, TRAITS, Words

MOST_COMBINATIONS = 1500
PLAIN_AMOUNTS = {"MEMORY_MB": (64, 256, 512, 1024), "DISK_GB": (1, 5, 10, 50), "CUSTOM_BW": (10, 100, 1000)}


@dataclass(frozen=True, slots=True)
class Group:
    suffix: str
    resources: tuple[tuple[str, int], ...]


def ask(dice: Dice, vocabulary: Words, state: State) -> Request:
    version = dice.version(
        dice.weighted(((10, 2), (12, 2), (17, 2), (25, 4), (29, 4), (33, 3), (36, 4), (39, 3)))
    )
    groups = bounded(dice, state, wanted(dice, state, version))
    query = [(f"resources{group.suffix}", spelled(group)) for group in groups]
    for group in groups:
        query += filters(dice, vocabulary, state, version, group.suffix)
    query += wide(dice, version, groups)
    if dice.chance(0.2):
        query = dice.some(query, len(query), len(query))
    return read("candidates", "/allocation_candidates", version, query)


def wanted(dice: Dice, state: State, version: Version) -> list[Group]:
    """Zero or one unsuffixed group, and from 1.25 on some suffixed ones."""
    suffixed = dice.weighted(((0, 4), (1, 4), (2, 4), (3, 2), (4, 1))) if version >= 25 else 0
    unsuffixed = not suffixed or dice.chance(0.7)
    groups = [Group("", resources(dice, state, 3))] if unsuffixed else []
    for number in range(1, suffixed + 1):
        suffix = str(number)
        if version >= 33 and dice.chance(0.5):
            suffix = dice.pick((f"_NET{number}", f"-port-{number}", f"_{number}", f"{number}a"))
        content = resources(dice, state, 2, single=True)
        if groups and dice.chance(0.2):  # the same class again, so that amounts meet
            name = dice.pick(groups).resources[0][0]
            content = ((name, dice.pick((1, 1, 2))),)
        groups.append(Group(suffix, content))
    return groups


def resources(dice: Dice, state: State, most: int, single: bool = False) -> tuple[tuple[str, int], ...]:
    """Classes to ask for: of one provider or tree, mostly, so that there is an answer."""
    if not state.inventories or dice.chance(0.08):
        names = dice.some(CLASSES, most, 1)
    else:
        provider, first = dice.pick(state.inventories)
        near = {provider} if single else set(state.tree(state.providers[provider].root)) | state.sharing()
        others = {name for where, name in state.inventories if where in near} - {first}
        names = [first, *dice.some(others, most - 1)]
    return tuple((name, dice.pick((1, 1, 1, 2, 3, *PLAIN_AMOUNTS.get(name, ())))) for name in names)


def spelled(group: Group) -> str:
    return ",".join(f"{name}:{amount}" for name, amount in group.resources)


def bounded(dice: Dice, state: State, groups: list[Group]) -> list[Group]:
    """Drop groups until the combinations stay countable."""
    while len(groups) > 1 and combinations(state, groups) > MOST_COMBINATIONS:
        groups = [group for group in groups if group is not dice.pick(groups[1:])]
    return groups


def combinations(state: State, groups: list[Group]) -> int:
    """An upper bound of what the reference will multiply out, summed over trees."""
    sharing = state.sharing()
    having: dict[str, set[str]] = defaultdict(set)
    for provider, name in state.inventories:
        having[name].add(provider)
    total = 0
    for root in {provider.root for provider in state.providers.values()}:
        reach = set(state.tree(root)) | sharing
        factors = []
        for group in groups:
            choices = [having[name] & reach for name, _ in group.resources]
            if group.suffix:
                factors.append(len(set.intersection(*choices)) if choices else len(reach))
            else:
                factors.append(prod(len(choice) for choice in choices))
        total += prod(factors)
    return total


def filters(
    dice: Dice, vocabulary: Words, state: State, version: Version, suffix: str
) -> list[tuple[str, str]]:
    query = []
    if version >= 17 and dice.chance(0.3):
        times = dice.number(1, 2) if version >= 39 else 1
        query += [(f"required{suffix}", trait_expression(dice, version)) for _ in range(times)]
    if version >= 21 and dice.chance(0.2):
        times = dice.number(1, 2) if version >= 24 else 1
        query += [
            (f"member_of{suffix}", aggregate_expression(dice, vocabulary, version)) for _ in range(times)
        ]
    if version >= 31 and dice.chance(0.12):
        query.append((f"in_tree{suffix}", dice.pick(state.providers or vocabulary.strangers)))
    return query


def trait_expression(dice: Dice, version: Version) -> str:
    if version >= 39 and dice.chance(0.35):
        return "in:" + ",".join(dice.some(TRAITS, 3, 1))
    chosen = dice.some(TRAITS, 2, 1) if dice.chance(0.93) else [SHARES]
    if version >= 22:
        chosen = [f"!{trait}" if dice.chance(0.45) else trait for trait in chosen]
    return ",".join(chosen)


def aggregate_expression(dice: Dice, vocabulary: Words, version: Version) -> str:
    refusal = "!" if version >= 32 and dice.chance(0.35) else ""
    chosen = dice.some(vocabulary.aggregates, 3, 1)
    if len(chosen) > 1 or dice.chance(0.3):
        return f"{refusal}in:{','.join(chosen)}"
    return f"{refusal}{chosen[0]}"


def wide(dice: Dice, version: Version, groups: list[Group]) -> list[tuple[str, str]]:
    """The parameters of the request as a whole."""
    query = []
    suffixes = [group.suffix for group in groups if group.suffix]
    if version >= 25 and (len(suffixes) > 1 or dice.chance(0.1)) and dice.chance(0.96):
        query.append(("group_policy", dice.pick(("none", "isolate"))))
    if version >= 16 and dice.chance(0.12):
        query.append(("limit", str(dice.pick((1, 2, 3, 5, 10, 100)))))
    if version >= 35 and dice.chance(0.12):
        chosen = dice.some(TRAITS, 2, 1)
        query.append(("root_required", ",".join(f"!{t}" if dice.chance(0.5) else t for t in chosen)))
    if version >= 36 and suffixes and dice.chance(0.3):
        query += same_subtree(dice, suffixes)
    return query


def same_subtree(dice: Dice, suffixes: list[str]) -> list[tuple[str, str]]:
    """Some groups under one ancestor, sometimes with a group that asks for no resources."""
    together = dice.some(suffixes, len(suffixes), 1)
    query = []
    if dice.chance(0.4):
        together.append("_TOP")
        query.append(("required_TOP", trait_expression(dice, Version.of("placement 1.36"))))
    query.append(("same_subtree", ",".join(together)))
    if len(suffixes) > 2 and dice.chance(0.2):
        query.append(("same_subtree", ",".join(dice.some(suffixes, 2, 2))))
    return query
