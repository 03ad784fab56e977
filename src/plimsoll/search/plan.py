# SPDX-License-Identifier: Apache-2.0

"""Plan a request: its slots, and the anchors (roots of trees) at which all slots may be served.

Trees that cannot serve all slots by simple counting are removed here, in bulk; the remaining trees are combined in
`combine/`. Names are looked up here, in the order that the API defines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from plimsoll.domain.refusals import ResourceClassMissing, TraitsMissing
from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.search import filters
from plimsoll.search.budget import Budget
from plimsoll.search.filters import Step, apply_filters
from plimsoll.search.index.bitset import NONE, RowSet, numbers_of, rows_of_mask
from plimsoll.search.index.index import Index
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.slots import Slot, Supply, slots_of
from plimsoll.search.trace import Trace

NameMissing = ResourceClassMissing | TraitsMissing


@unhashable_value
class Plan:
    """The slots to fill, the rules between them, and the anchors to search."""

    slots: tuple[Slot, ...]
    anchors: RowSet
    required_traits: tuple[RowSet, ...] = ()
    """For each required trait of the group without suffix, the rows that have it. One provider of the group must."""
    isolated: bool = False
    subtrees: tuple[frozenset[str], ...] = ()
    one_per_tree: bool = False
    contention_ignored: frozenset[str] = frozenset()
    """Resource classes for which `contended` returns nothing. Empty in a search; an explanation leaves out single rules."""

    def contended(self) -> dict[str, tuple[int, ...]]:
        """Return the resource classes that several slots request, with the numbers of these slots."""
        if len(self.slots) == 1:
            return {}
        wanted: dict[str, list[int]] = {}
        for number, slot in enumerate(self.slots):
            for resource_class in slot.resources:
                if resource_class not in self.contention_ignored:
                    wanted.setdefault(resource_class, []).append(number)
        return {name: tuple(numbers) for name, numbers in wanted.items() if len(numbers) > 1}


def unknown_trait(world: World, names: Iterable[str]) -> TraitsMissing | None:
    return next((TraitsMissing((name,)) for name in sorted(names) if name not in world.traits), None)


def unknown_class(world: World, names: Iterable[str]) -> ResourceClassMissing | None:
    return next((ResourceClassMissing(name) for name in names if name not in world.classes), None)


def allowed_roots(
    world: World, index: Index, request: CandidatesRequest, trace: Trace | None = None
) -> RowSet | TraitsMissing:
    """Return the roots with the required and without the forbidden root traits, or a refusal for an unknown trait."""
    if missing := unknown_trait(world, request.root_required) or unknown_trait(world, request.root_forbidden):
        return missing
    steps: list[Step] = [filters.HasTrait(frozenset([trait])) for trait in sorted(request.root_required)]
    if request.root_forbidden:
        steps.append(filters.LacksTraits(request.root_forbidden))
    return apply_filters(index, index.trees.root_rows, steps, None if trace is None else trace.roots)


def plan_group(
    world: World,
    index: Index,
    group: Group,
    roots: RowSet,
    slots_by_group: dict[object, list[Slot]],
    trace: Trace | None = None,
) -> Plan | NameMissing | None:
    """Return the plan for one group, None if no provider can serve it. `slots_by_group` is a cache for equal groups.

    With a trace, all filters are applied even if the result is known before.
    """
    early_end = _early_end(world, index, group)
    if early_end is not None and trace is None:
        return early_end if isinstance(early_end, NameMissing) else None
    in_tree = group.conditions.in_tree
    tree = None if in_tree is None else rows_of_tree(world, index, in_tree)
    slots = _slots(index, group, roots, tree, slots_by_group, trace)
    anchors = _intersect(roots, [slot.supply.anchors for slot in slots], "supply", group, trace)
    required_traits: tuple[RowSet, ...] = ()
    if len(slots) > 1:
        wanted = group.conditions.required
        required_traits = tuple(filters.rows_with_any_trait(index, any_of) for any_of in wanted)
        supplies = [slot.supply for slot in slots]
        with_traits = [_anchors_with_trait(index, supplies, trait_rows) for trait_rows in required_traits]
        anchors = _intersect(anchors, with_traits, "required_traits", group, trace)
    if trace is not None and early_end is not None:
        trace.groups[-1].early_end = early_end if isinstance(early_end, str) else "unknown_name"
    if isinstance(early_end, NameMissing):
        return early_end
    return Plan(slots, anchors, required_traits) if anchors else None


def _early_end(world: World, index: Index, group: Group) -> NameMissing | str | None:
    """Return a refusal for an unknown name, or the reason for which no provider can serve the group, if either is known."""
    wanted = group.conditions
    if unknown := unknown_class(world, group.resources):
        return unknown
    if wanted.member_of and not filters.rows_matching_member_of(index, wanted.member_of):
        return "member_of"
    for traits in (*wanted.required, wanted.forbidden):
        if missing := unknown_trait(world, traits):
            return missing
    return "in_tree" if wanted.in_tree is not None and world.provider(wanted.in_tree) is None else None


def rows_of_tree(world: World, index: Index, uuid: str) -> RowSet:
    """Return the rows of the tree that has this provider, which in_tree names; no row for an unknown provider."""
    provider = world.provider(uuid)
    return NONE if provider is None else index.rows_of_uuids(world.trees[provider.root])


def _intersect(
    anchors: RowSet, sets: Iterable[RowSet], reason: str, group: Group | None, trace: Trace | None
) -> RowSet:
    for each in sets:
        after = anchors & each
        if trace is not None:
            trace.intersected(reason, None if group is None else group.suffix, anchors, after)
        anchors = after
    return anchors


def _slots(
    index: Index,
    group: Group,
    roots: RowSet,
    tree: RowSet | None,
    slots_by_group: dict[object, list[Slot]],
    trace: Trace | None,
) -> tuple[Slot, ...]:
    """Return the slots of a group. Equal groups, which are frequent, share one filter run and its reports."""
    group_key = (group.conditions, tuple(group.resources.items()), group.one_provider)
    report = None if trace is None else trace.add_group(group, group_key)
    slots = slots_by_group.get(group_key)
    if slots is None:
        slots = slots_by_group[group_key] = list(slots_of(index, group, roots, tree, report))
        return tuple(slots)
    return tuple([Slot(group.suffix, slot.resources, slot.supply) for slot in slots])


def plan_request(
    index: Index,
    request: CandidatesRequest,
    parts: Sequence[Plan],
    budget: Budget,
    trace: Trace | None = None,
) -> Plan | None:
    """Merge the plans of all groups, and remove trees that are too small for all groups at once."""
    anchors = _intersect(parts[0].anchors, [part.anchors for part in parts[1:]], "groups", None, trace)
    plan = Plan(
        slots=tuple([slot for part in parts for slot in part.slots]),
        anchors=anchors,
        required_traits=tuple([trait_rows for part in parts for trait_rows in part.required_traits]),
        isolated=request.is_isolated,
        subtrees=request.same_subtrees,
        one_per_tree=not request.nested and bool(index.children),
    )
    anchors = anchors_by_counting(index, plan, budget, trace)
    if not anchors:
        return None
    return plan if anchors == plan.anchors else replace(plan, anchors=anchors)


def anchors_by_counting(index: Index, plan: Plan, budget: Budget, trace: Trace | None = None) -> RowSet:
    """Return the anchors of a plan whose trees have room for all slots by counting. Exact for an index without trees."""
    anchors = plan.anchors
    for name, numbers in plan.contended().items():
        slots = [plan.slots[number] for number in numbers]
        for pieces, size in _pieces([slot.resources[name] for slot in slots]):
            with_room = _anchors_with_room(index, slots, name, pieces, size)
            anchors = _intersect(anchors, [with_room], "capacity", None, trace)
            budget.check()
    if plan.isolated:
        suffixed = [slot for slot in plan.slots if slot.one_provider]
        with_room = _anchors_with_room(index, suffixed, None, len(suffixed))
        anchors = _intersect(anchors, [with_room], "isolate", None, trace)
    return anchors


def _anchors_with_trait(index: Index, supplies: Sequence[Supply], trait_rows: RowSet) -> RowSet:
    """Return the anchors at which a provider of these supplies has the trait."""
    rows, anchors = NONE, NONE
    for supply in supplies:
        rows |= supply.rows & trait_rows
        for sharing_provider, shared_anchors in supply.sharing_providers.items():
            if trait_rows >> sharing_provider & 1:
                anchors |= shared_anchors
    return anchors | index.roots_of(rows)


def _pieces(amounts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield lower bounds on the room of a tree, as (number of pieces, size of each piece).

    An amount cannot be split over providers: two providers with room for 8 each hold two pieces of 5, not three. For
    each distinct amount, the tree must hold as many pieces of this size as there are amounts at least this large. The
    sum of all amounts, in pieces of 1, must fit too.
    """
    sizes = sorted(amounts)
    if sizes[0] != sizes[-1]:
        yield sum(sizes), 1
    for before, size in enumerate(sizes):
        if before == 0 or size != sizes[before - 1]:
            yield len(sizes) - before, size


def _anchors_with_room(
    index: Index, slots: Sequence[Slot], resource_class: str | None, pieces: int, size: int = 1
) -> RowSet:
    """Return the anchors whose providers have room for this many pieces. Without a class, each provider counts as one.

    Trees that a sharing provider can serve always pass: its room is not counted here.
    """
    rows, anchors = NONE, NONE
    for supply in {id(slot.supply): slot.supply for slot in slots}.values():
        rows |= supply.rows
        anchors |= supply.shared_anchors
    numbers = numbers_of(rows, index.size)
    rooms = (
        np.ones(len(numbers))
        if resource_class is None
        else index.class_column(resource_class).room_by_row(index.size)[numbers] // size
    )
    sums = np.bincount(index.root_by_row()[numbers], weights=rooms, minlength=index.size)
    return anchors | rows_of_mask(sums >= pieces)
