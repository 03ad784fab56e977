# SPDX-License-Identifier: Apache-2.0

"""Random questions to GET /allocation_candidates, at every version that has them.

A question is thought out backwards: a tree is chosen, providers in its reach, what they have left, and
conditions that they meet; so most questions have answers. Chance then spoils some of that. A question whose
combinations would run into the thousands is made smaller, because the reference multiplies them all out.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from tests.differential.claims import fitting
from tests.differential.conditions import on_aggregates, on_traits
from tests.differential.requests import Dice, Request, Version, read
from tests.differential.state import State
from tests.differential.words import CLASSES, Words

MOST_COMBINATIONS = 1500
TOP = "_TOP"

Amounts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What is asked for under one suffix, and the providers it was thought of for."""

    suffix: str
    resources: Amounts
    providers: tuple[str, ...] = ()


def ask(dice: Dice, vocabulary: Words, state: State) -> Request:
    since = dice.weighted(((10, 2), (12, 2), (17, 2), (25, 4), (29, 4), (33, 3), (36, 4), (39, 3)))
    version = dice.version(since)
    root = dice.pick({state.providers[uuid].root for uuid, _ in state.inventories} or set(state.providers))
    groups = bounded(dice, state, thought_of(dice, state, version, root))
    query = [(f"resources{group.suffix}", spelled(group.resources)) for group in groups if group.resources]
    for group in groups:
        if dice.chance(1.3 / len(groups)):  # each condition on each group makes an empty answer likelier
            query += conditions(dice, vocabulary, state, version, group)
    query += wide(dice, state, version, groups, root)
    if dice.chance(0.2):
        query = dice.some(query, len(query), len(query))
    return read("candidates", "/allocation_candidates", version, query)


def thought_of(dice: Dice, state: State, version: Version, root: str) -> list[Group]:
    """Zero or one unsuffixed group, and from 1.25 on some suffixed ones."""
    tree = state.tree(root)
    shared = reachable(state, tree)
    count = dice.weighted(((0, 4), (1, 4), (2, 4), (3, 2), (4, 1))) if version >= 25 else 0
    groups = []
    if not count or dice.chance(0.65):
        groups.append(unsuffixed(dice, state, tree + shared, version))
    subtree = below(state, dice.pick(tree)) if dice.chance(0.3) else tree
    for number in range(1, count + 1):
        suffix = str(number)
        if version >= 33 and dice.chance(0.5):
            suffix = dice.pick((f"_NET{number}", f"-port-{number}", f"_{number}", f"{number}a"))
        pool = shared if shared and dice.chance(0.15) else subtree
        groups.append(suffixed(dice, state, suffix, pool))
    return groups


def unsuffixed(dice: Dice, state: State, pool: list[str], version: Version) -> Group:
    """Classes of several providers; of one alone, mostly, where versions know no trees."""
    if not version >= 29 and dice.chance(0.6):
        return suffixed(dice, state, "", pool)
    near = set(pool)
    choices: dict[str, list[str]] = defaultdict(list)
    for provider, name in state.inventories:
        if provider in near and fitting(state, provider, name):
            choices[name].append(provider)
    names = dice.some(choices, 3, 1)
    picked = {name: dice.pick(choices[name]) for name in names}
    amounts = tuple((name, amount(dice, state, picked[name], name)) for name in names)
    return Group("", amounts or unheard(dice), tuple(picked.values()))


def suffixed(dice: Dice, state: State, suffix: str, pool: list[str]) -> Group:
    """One or two classes that one provider has."""
    near = set(pool)
    choices: dict[str, list[str]] = defaultdict(list)
    for provider, name in state.inventories:
        if provider in near and fitting(state, provider, name):
            choices[provider].append(name)
    if not choices:
        return Group(suffix, unheard(dice))
    provider = dice.pick(choices)
    names = dice.some(choices[provider], 2, 1)
    return Group(suffix, tuple((name, amount(dice, state, provider, name)) for name in names), (provider,))


def unheard(dice: Dice) -> Amounts:
    return tuple((name, 1) for name in dice.some(CLASSES, 2, 1))


def amount(dice: Dice, state: State, provider: str, name: str) -> int:
    """Mostly a little of what is left."""
    fit = fitting(state, provider, name)
    if dice.chance(0.04):
        return fit[-1] + 1
    return fit[-1] if dice.chance(0.04) else dice.pick(list(fit[:2]))


def some_resources(dice: Dice, state: State) -> str:
    """Amounts that one provider has, as the list of providers asks for them."""
    return spelled(suffixed(dice, state, "", list(state.providers)).resources)


def spelled(resources: Amounts) -> str:
    return ",".join(f"{name}:{amount}" for name, amount in resources)


def reachable(state: State, tree: list[str]) -> list[str]:
    """The sharing providers that have an aggregate in common with the tree."""
    theirs = {aggregate for uuid, aggregate in state.aggregates if uuid in set(tree)}
    sharing = {uuid for uuid, aggregate in state.aggregates if aggregate in theirs} & state.sharing()
    return sorted(sharing - set(tree))


def below(state: State, top: str) -> list[str]:
    """A provider and its descendants."""
    found = [top]
    for uuid in found:
        found += [child for child, provider in state.providers.items() if provider.parent == uuid]
    return found


def bounded(dice: Dice, state: State, groups: list[Group]) -> list[Group]:
    """Drop groups until the combinations stay countable."""
    while len(groups) > 1 and combinations(state, groups) > MOST_COMBINATIONS:
        gone = dice.pick(groups[1:])
        groups = [group for group in groups if group is not gone]
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


def traits_of(state: State, providers: tuple[str, ...]) -> set[str]:
    return {trait for uuid, trait in state.traits if uuid in providers}


def aggregates_of(state: State, providers: tuple[str, ...]) -> set[str]:
    roots = {state.providers[uuid].root for uuid in providers}
    return {aggregate for uuid, aggregate in state.aggregates if uuid in roots.union(providers)}


def conditions(
    dice: Dice, vocabulary: Words, state: State, version: Version, group: Group
) -> list[tuple[str, str]]:
    query = []
    if version >= 17 and dice.chance(0.25):
        traits = traits_of(state, group.providers)
        times = dice.number(1, 2) if version >= 39 else 1
        query += [(f"required{group.suffix}", on_traits(dice, version, traits)) for _ in range(times)]
    if version >= 21 and dice.chance(0.15):
        aggregates = aggregates_of(state, group.providers)
        times = dice.number(1, 2) if version >= 24 else 1
        query += [
            (f"member_of{group.suffix}", on_aggregates(dice, vocabulary, version, aggregates))
            for _ in range(times)
        ]
    if version >= 31 and dice.chance(0.1):
        near = group.providers if group.providers and dice.chance(0.85) else tuple(state.providers)
        tree = state.tree(state.providers[dice.pick(near)].root)
        query.append((f"in_tree{group.suffix}", dice.pick(tree)))
    return query


def wide(dice: Dice, state: State, version: Version, groups: list[Group], root: str) -> list[tuple[str, str]]:
    """The parameters of the request as a whole."""
    query = []
    suffixes = [group.suffix for group in groups if group.suffix]
    if version >= 25 and (len(suffixes) > 1 or dice.chance(0.1)) and dice.chance(0.97):
        query.append(("group_policy", dice.pick(("none", "none", "isolate"))))
    if version >= 16 and dice.chance(0.12):
        query.append(("limit", str(dice.pick((1, 2, 3, 5, 10, 100)))))
    if version >= 35 and dice.chance(0.1):
        old = Version.of("placement 1.35")  # root_required never learnt the syntax of later versions
        query.append(("root_required", on_traits(dice, old, traits_of(state, (root,)))))
    if version >= 36 and suffixes and dice.chance(0.35):
        query += same_subtree(dice, state, groups)
    return query


def same_subtree(dice: Dice, state: State, groups: list[Group]) -> list[tuple[str, str]]:
    """Some groups under one ancestor, sometimes one that is found by a group without resources."""
    some = dice.some([group for group in groups if group.suffix], len(groups), 1)
    together = [group.suffix for group in some]
    query = []
    if dice.chance(0.5):
        ancestors = lineage(state, dice.pick(some).providers)
        traits = traits_of(state, (dice.pick(ancestors),)) if ancestors else set()
        if traits:
            query.append((f"required{TOP}", dice.pick(traits)))
            together.append(TOP)
    query.append(("same_subtree", ",".join(together)))
    if len(some) > 2 and dice.chance(0.2):
        query.append(("same_subtree", ",".join(group.suffix for group in dice.some(some, 2, 2))))
    return query


def lineage(state: State, providers: tuple[str, ...]) -> list[str]:
    """Providers and their ancestors."""
    found = list(providers)
    for uuid in found:
        parent = state.providers[uuid].parent
        if parent is not None:
            found.append(parent)
    return found
