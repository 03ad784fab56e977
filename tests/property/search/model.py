# SPDX-License-Identifier: Apache-2.0

"""A reference model: find allocation candidates by brute force, and check each rule literally.

Slow and simple on purpose: the results of the search are compared with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from plimsoll.domain.provider import SHARING_TRAIT, Provider
from plimsoll.domain.world import World
from plimsoll.search.request import CandidatesRequest, Conditions, Group

Taken = Mapping[str, str]
"""For one group: the provider of each resource class."""
Served = frozenset[tuple[str, str, int]]
"""Provider, class, amount."""
Mapped = frozenset[tuple[str, frozenset[str]]]
"""Suffix, providers."""


def candidates(world: World, request: CandidatesRequest) -> set[tuple[Served, Mapped]]:
    found = set()
    for anchor in world.providers.values():
        if anchor.parent is None and _is_wanted_root(anchor, request):
            parts = [list(_assignments(world, anchor, group)) for group in request.groups]
            for assignments in product(*parts):
                if _meets_rules(world, request, assignments):
                    found.add((_served(request, assignments), _mapped(request, assignments)))
    return found


def has_candidates_at(world: World, anchor: Provider, request: CandidatesRequest) -> bool:
    """Return whether there is a candidate around this root."""
    if not _is_wanted_root(anchor, request):
        return False
    parts = [list(_assignments(world, anchor, group)) for group in request.groups]
    return any(_meets_rules(world, request, assignments) for assignments in product(*parts))


def summarised(world: World, request: CandidatesRequest, found: set[tuple[Served, Mapped]]) -> set[str]:
    allocated_from = {uuid for served, _ in found for uuid, _, _ in served}
    if not request.nested and any(provider.parent is not None for provider in world.providers.values()):
        return allocated_from
    return {
        p.uuid
        for p in world.providers.values()
        if any(world.providers[u].root == p.root for u in allocated_from)
    }


Assignment = tuple[frozenset[str], Taken]
"""The providers of a group, and the provider of each class. A provider of a group may have no class."""


def _is_wanted_root(anchor: Provider, request: CandidatesRequest) -> bool:
    return anchor.traits >= request.root_required and not anchor.traits & request.root_forbidden


def _assignments(world: World, anchor: Provider, group: Group) -> Iterator[Assignment]:
    nearby = [
        p for p in world.providers.values() if p.root == anchor.uuid or _serves_by_sharing(world, p, anchor)
    ]
    if group.one_provider:
        for provider in nearby:
            if _serves_group(world, provider, group):
                yield frozenset([provider.uuid]), dict.fromkeys(group.resources, provider.uuid)
        return
    wanted = group.conditions
    options = [
        [p for p in nearby if _admits(p, name, amount) and _may_serve_class(world, p, anchor, wanted)]
        for name, amount in group.resources.items()
    ]
    for chosen in product(*options):
        traits = frozenset().union(*(provider.traits for provider in chosen))
        if all(traits & any_of for any_of in wanted.required):
            uuids = [provider.uuid for provider in chosen]
            yield frozenset(uuids), dict(zip(group.resources, uuids, strict=True))


def _serves_by_sharing(world: World, provider: Provider, anchor: Provider) -> bool:
    return SHARING_TRAIT in provider.traits and any(
        provider.aggregates & other.aggregates for other in world.tree(anchor.uuid)
    )


def _serves_group(world: World, provider: Provider, group: Group) -> bool:
    wanted = group.conditions
    if not group.resources and not wanted.required and not wanted.member_of:
        return False
    return (
        all(provider.traits & any_of for any_of in wanted.required)
        and not provider.traits & wanted.forbidden
        and _is_member(provider, wanted)
        and not provider.aggregates & wanted.not_member_of
        and (not group.resources or _is_in_tree(world, provider, wanted))
        and all(_admits(provider, name, amount) for name, amount in group.resources.items())
    )


def _may_serve_class(world: World, provider: Provider, anchor: Provider, wanted: Conditions) -> bool:
    own = provider.root == anchor.uuid
    return (
        not provider.traits & wanted.forbidden
        and (_is_member(provider, wanted) or (own and _is_member(anchor, wanted)))
        and not (provider.aggregates | anchor.aggregates) & wanted.not_member_of
        and _is_in_tree(world, provider, wanted)
        and (own or wanted.in_tree is None)
    )


def _is_member(provider: Provider, wanted: Conditions) -> bool:
    return all(provider.aggregates & any_of for any_of in wanted.member_of)


def _is_in_tree(world: World, provider: Provider, wanted: Conditions) -> bool:
    return wanted.in_tree is None or provider.root == world.providers[wanted.in_tree].root


def _admits(provider: Provider, name: str, amount: int) -> bool:
    inventory = provider.inventories.get(name)
    return inventory is not None and inventory.admits(amount, provider.used_of(name))


def _meets_rules(world: World, request: CandidatesRequest, assignments: tuple[Assignment, ...]) -> bool:
    by_suffix = {group.suffix: served for group, (served, _) in zip(request.groups, assignments, strict=True)}
    suffixed = [served for suffix, served in by_suffix.items() if suffix]
    if request.group_policy == "isolate" and len(frozenset().union(*suffixed)) < len(suffixed):
        return False
    for subtree in request.same_subtrees:
        members = frozenset().union(*(by_suffix[suffix] for suffix in subtree))
        if not any(all(top in _ancestors(world, member) for member in members) for top in members):
            return False
    for uuid, name, amount in _served(request, assignments):
        provider = world.providers[uuid]
        inventory = provider.inventories[name]
        if amount > inventory.max_unit or provider.used_of(name) + amount > inventory.capacity:
            return False
    allocated_from = {uuid for uuid, _, _ in _served(request, assignments)}
    return request.nested or len({world.providers[uuid].root for uuid in allocated_from}) == len(
        allocated_from
    )


def _ancestors(world: World, uuid: str) -> set[str]:
    ancestors = {uuid}
    parent = world.providers[uuid].parent
    return ancestors if parent is None else ancestors | _ancestors(world, parent)


def _served(request: CandidatesRequest, assignments: tuple[Assignment, ...]) -> Served:
    total: dict[tuple[str, str], int] = {}
    for group, (_, taken) in zip(request.groups, assignments, strict=True):
        for name, uuid in taken.items():
            total[uuid, name] = total.get((uuid, name), 0) + group.resources[name]
    return frozenset((uuid, name, amount) for (uuid, name), amount in total.items())


def _mapped(request: CandidatesRequest, assignments: tuple[Assignment, ...]) -> Mapped:
    return frozenset(
        (group.suffix, served) for group, (served, _) in zip(request.groups, assignments, strict=True)
    )
