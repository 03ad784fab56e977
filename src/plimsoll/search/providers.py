# SPDX-License-Identifier: Apache-2.0

"""Find single providers that match a request (GET /resource_providers)."""

from __future__ import annotations

from itertools import starmap

from plimsoll.domain.world import World
from plimsoll.search import filters
from plimsoll.search.filters import Step, apply_filters
from plimsoll.search.index.bitset import RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.index.selection import NO_PROVIDERS, Selection
from plimsoll.search.plan import NameMissing, rows_of_tree, unknown_class, unknown_trait
from plimsoll.search.request import ProvidersRequest


def find_providers(world: World, index: Index, request: ProvidersRequest) -> Selection | NameMissing:
    """Return the matching providers in the order of their creation."""
    steps = _filters(world, index, request)
    if steps is None:
        return NO_PROVIDERS
    if isinstance(steps, NameMissing):
        return steps
    rows = apply_filters(index, _rows_by_uuid_and_name(world, index, request), steps)
    return Selection(index, index.oldest_first(numbers_of(rows, index.size)))


def _rows_by_uuid_and_name(world: World, index: Index, request: ProvidersRequest) -> RowSet:
    rows = index.live
    if request.name:
        named = world.provider_named(request.name)
        rows &= index.rows_of_uuids([] if named is None else [named.uuid])
    if request.uuid:
        known = world.provider(request.uuid)
        rows &= index.rows_of_uuids([] if known is None else [known.uuid])
    return rows


def _filters(world: World, index: Index, request: ProvidersRequest) -> list[Step] | NameMissing | None:
    """Return the filters of a request; None if the result is empty before the remaining names are looked up."""
    wanted = request.conditions
    steps: list[Step] = []
    if wanted.in_tree is not None:
        tree = rows_of_tree(world, index, wanted.in_tree)
        if not tree:
            return None
        steps.append(filters.InTree(wanted.in_tree, tree))
    for any_of in wanted.required:
        if missing := unknown_trait(world, any_of):
            return missing
    required = [filters.HasTrait(any_of) for any_of in wanted.required]
    if required and not apply_filters(index, index.live, required):
        return None
    steps += required
    if missing := unknown_trait(world, wanted.forbidden):
        return missing
    if wanted.forbidden:
        steps.append(filters.LacksTraits(wanted.forbidden))
    if wanted.member_of:
        if not filters.rows_matching_member_of(index, wanted.member_of):
            return None
        steps.append(filters.MemberOf(wanted.member_of))
    if wanted.not_member_of:
        steps.append(filters.NotMemberOf(wanted.not_member_of))
    if unknown := unknown_class(world, request.resources):
        return unknown
    steps += starmap(filters.Admits, request.resources.items())
    return steps
