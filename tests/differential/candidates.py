# SPDX-License-Identifier: Apache-2.0

"""Random requests for GET /allocation_candidates, at every version that has them.

Most requests have candidates, because they are derived from the state: choose a tree, providers that it can use,
amounts that they have left, and conditions that they satisfy. Some parts are then replaced at random. A request with
thousands of combinations is made smaller, because the reference enumerates all of them.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from tests.differential.claims import available_amounts
from tests.differential.conditions import on_aggregates, on_traits
from tests.differential.requests import Request, SeededRandom, Version, read
from tests.differential.sample_data import CLASSES, SampleData
from tests.differential.state import State

MAX_COMBINATIONS = 1500
TOP = "_TOP"

Amounts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The resources of one suffix, and the providers from which they were derived."""

    suffix: str
    resources: Amounts
    providers: tuple[str, ...] = ()


def search(rng: SeededRandom, data: SampleData, state: State) -> Request:
    since = rng.weighted(((10, 2), (12, 2), (17, 2), (25, 4), (29, 4), (33, 3), (36, 4), (39, 3)))
    version = rng.version(since)
    root = rng.pick({state.providers[uuid].root for uuid, _ in state.inventories} or set(state.providers))
    groups = limit_combinations(rng, state, create_groups(rng, state, version, root))
    query = [
        (f"resources{group.suffix}", format_amounts(group.resources)) for group in groups if group.resources
    ]
    for group in groups:
        if rng.chance(1.3 / len(groups)):  # each condition on each group makes an empty result more likely
            query += conditions(rng, data, state, version, group)
    query += request_parameters(rng, state, version, groups, root)
    if rng.chance(0.2):
        query = rng.some(query, len(query), len(query))
    return read("candidates", "/allocation_candidates", version, query)


def create_groups(rng: SeededRandom, state: State, version: Version, root: str) -> list[Group]:
    """Return zero or one unsuffixed group and, from 1.25 on, some suffixed ones."""
    tree = state.tree(root)
    shared = sharing_providers_of(state, tree)
    count = rng.weighted(((0, 4), (1, 4), (2, 4), (3, 2), (4, 1))) if version >= 25 else 0
    groups = []
    if not count or rng.chance(0.65):
        groups.append(unsuffixed(rng, state, tree + shared, version))
    subtree = descendants(state, rng.pick(tree)) if rng.chance(0.3) else tree
    for number in range(1, count + 1):
        suffix = str(number)
        if version >= 33 and rng.chance(0.5):
            suffix = rng.pick((f"_NET{number}", f"-port-{number}", f"_{number}", f"{number}a"))
        pool = shared if shared and rng.chance(0.15) else subtree
        groups.append(suffixed(rng, state, suffix, pool))
    return groups


def unsuffixed(rng: SeededRandom, state: State, pool: list[str], version: Version) -> Group:
    """Return classes of several providers; mostly of one provider in versions without trees."""
    if not version >= 29 and rng.chance(0.6):
        return suffixed(rng, state, "", pool)
    nearby = set(pool)
    choices: dict[str, list[str]] = defaultdict(list)
    for provider, name in state.inventories:
        if provider in nearby and available_amounts(state, provider, name):
            choices[name].append(provider)
    names = rng.some(choices, 3, 1)
    picked = {name: rng.pick(choices[name]) for name in names}
    amounts = tuple((name, amount(rng, state, picked[name], name)) for name in names)
    return Group("", amounts or random_amounts(rng), tuple(picked.values()))


def suffixed(rng: SeededRandom, state: State, suffix: str, pool: list[str]) -> Group:
    """Return one or two classes of one provider."""
    nearby = set(pool)
    choices: dict[str, list[str]] = defaultdict(list)
    for provider, name in state.inventories:
        if provider in nearby and available_amounts(state, provider, name):
            choices[provider].append(name)
    if not choices:
        return Group(suffix, random_amounts(rng))
    provider = rng.pick(choices)
    names = rng.some(choices[provider], 2, 1)
    return Group(suffix, tuple((name, amount(rng, state, provider, name)) for name in names), (provider,))


def random_amounts(rng: SeededRandom) -> Amounts:
    return tuple((name, 1) for name in rng.some(CLASSES, 2, 1))


def amount(rng: SeededRandom, state: State, provider: str, name: str) -> int:
    """Return mostly one of the two smallest available amounts."""
    fit = available_amounts(state, provider, name)
    if rng.chance(0.04):
        return fit[-1] + 1
    return fit[-1] if rng.chance(0.04) else rng.pick(list(fit[:2]))


def some_resources(rng: SeededRandom, state: State) -> str:
    """Return amounts of one provider in the syntax of the `resources` parameter."""
    return format_amounts(suffixed(rng, state, "", list(state.providers)).resources)


def format_amounts(resources: Amounts) -> str:
    return ",".join(f"{name}:{amount}" for name, amount in resources)


def sharing_providers_of(state: State, tree: list[str]) -> list[str]:
    """Return the sharing providers that have an aggregate in common with the tree."""
    tree_aggregates = {aggregate for uuid, aggregate in state.aggregates if uuid in set(tree)}
    sharing = {uuid for uuid, aggregate in state.aggregates if aggregate in tree_aggregates} & state.sharing()
    return sorted(sharing - set(tree))


def descendants(state: State, top: str) -> list[str]:
    """Return a provider and its descendants."""
    found = [top]
    for uuid in found:
        found += [child for child, provider in state.providers.items() if provider.parent == uuid]
    return found


def limit_combinations(rng: SeededRandom, state: State, groups: list[Group]) -> list[Group]:
    """Drop random groups until the number of combinations is within the limit."""
    while len(groups) > 1 and combinations(state, groups) > MAX_COMBINATIONS:
        dropped = rng.pick(groups[1:])
        groups = [group for group in groups if group is not dropped]
    return groups


def combinations(state: State, groups: list[Group]) -> int:
    """Return an upper bound of the combinations that the reference enumerates, summed over trees."""
    sharing = state.sharing()
    providers_of: dict[str, set[str]] = defaultdict(set)
    for provider, name in state.inventories:
        providers_of[name].add(provider)
    total = 0
    for root in {provider.root for provider in state.providers.values()}:
        usable = set(state.tree(root)) | sharing
        factors = []
        for group in groups:
            choices = [providers_of[name] & usable for name, _ in group.resources]
            if group.suffix:
                factors.append(len(set.intersection(*choices)) if choices else len(usable))
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
    rng: SeededRandom, data: SampleData, state: State, version: Version, group: Group
) -> list[tuple[str, str]]:
    query = []
    if version >= 17 and rng.chance(0.25):
        traits = traits_of(state, group.providers)
        times = rng.number(1, 2) if version >= 39 else 1
        query += [(f"required{group.suffix}", on_traits(rng, version, traits)) for _ in range(times)]
    if version >= 21 and rng.chance(0.15):
        aggregates = aggregates_of(state, group.providers)
        times = rng.number(1, 2) if version >= 24 else 1
        query += [
            (f"member_of{group.suffix}", on_aggregates(rng, data, version, aggregates)) for _ in range(times)
        ]
    if version >= 31 and rng.chance(0.1):
        nearby = group.providers if group.providers and rng.chance(0.85) else tuple(state.providers)
        tree = state.tree(state.providers[rng.pick(nearby)].root)
        query.append((f"in_tree{group.suffix}", rng.pick(tree)))
    return query


def request_parameters(
    rng: SeededRandom, state: State, version: Version, groups: list[Group], root: str
) -> list[tuple[str, str]]:
    """Return the parameters that apply to the whole request."""
    query = []
    suffixes = [group.suffix for group in groups if group.suffix]
    if version >= 25 and (len(suffixes) > 1 or rng.chance(0.1)) and rng.chance(0.97):
        query.append(("group_policy", rng.pick(("none", "none", "isolate"))))
    if version >= 16 and rng.chance(0.12):
        query.append(("limit", str(rng.pick((1, 2, 3, 5, 10, 100)))))
    if version >= 35 and rng.chance(0.1):
        old = Version.of("placement 1.35")  # root_required does not support the syntax of later versions
        query.append(("root_required", on_traits(rng, old, traits_of(state, (root,)))))
    if version >= 36 and suffixes and rng.chance(0.35):
        query += same_subtree(rng, state, groups)
    return query


def same_subtree(rng: SeededRandom, state: State, groups: list[Group]) -> list[tuple[str, str]]:
    """Return a same_subtree parameter, sometimes with a group without resources for the common ancestor."""
    chosen = rng.some([group for group in groups if group.suffix], len(groups), 1)
    suffixes = [group.suffix for group in chosen]
    query = []
    if rng.chance(0.5):
        ancestors = with_ancestors(state, rng.pick(chosen).providers)
        traits = traits_of(state, (rng.pick(ancestors),)) if ancestors else set()
        if traits:
            query.append((f"required{TOP}", rng.pick(traits)))
            suffixes.append(TOP)
    query.append(("same_subtree", ",".join(suffixes)))
    if len(chosen) > 2 and rng.chance(0.2):
        query.append(("same_subtree", ",".join(group.suffix for group in rng.some(chosen, 2, 2))))
    return query


def with_ancestors(state: State, providers: tuple[str, ...]) -> list[str]:
    """Return the providers and their ancestors."""
    found = list(providers)
    for uuid in found:
        parent = state.providers[uuid].parent
        if parent is not None:
            found.append(parent)
    return found
