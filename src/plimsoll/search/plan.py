# SPDX-License-Identifier: Apache-2.0

"""From a request to the slots that have to be filled and the trees at which that may be possible.

Trees drop out here, many at a time, when they plainly cannot serve all slots at once; what is left is combined
one tree after the other. Names are looked up on the way, in the order in which the API looks them up.
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
from plimsoll.search.filters import Step, Tally, narrow
from plimsoll.search.index.bitset import (
    NONE,
    RowSet,
    numbers_of,
    rows_of_mask,
)
from plimsoll.search.index.index import Index
from plimsoll.search.request import CandidatesRequest, Group
from plimsoll.search.slots import Slot, Supply, slots_of

NameMissing = ResourceClassMissing | TraitsMissing


@unhashable_value
class Plan:
    """What has to be filled, what the choices must keep among each other, and around which roots to look."""

    slots: tuple[Slot, ...]
    anchors: RowSet
    together: tuple[RowSet, ...] = ()
    """Who has it, for each trait that the providers of the group without suffix must have among them."""
    isolated: bool = False
    subtrees: tuple[frozenset[str], ...] = ()
    one_of_tree: bool = False

    def contended(self) -> dict[str, tuple[int, ...]]:
        """The resource classes that several slots ask for, and which slots do."""
        if len(self.slots) == 1:
            return {}
        wanted: dict[str, list[int]] = {}
        for number, slot in enumerate(self.slots):
            for resource_class in slot.resources:
                wanted.setdefault(resource_class, []).append(number)
        return {name: tuple(numbers) for name, numbers in wanted.items() if len(numbers) > 1}

    def numbers(self, suffix: str) -> tuple[int, ...]:
        """The slots of a group."""
        return tuple([number for number, slot in enumerate(self.slots) if slot.suffix == suffix])

    def subtree_numbers(self) -> list[tuple[int, ...]]:
        """The slots whose providers must have one of them above all; one alone always has."""
        if not self.subtrees:
            return []
        by_suffix: dict[str, list[int]] = {}
        for number, slot in enumerate(self.slots):
            by_suffix.setdefault(slot.suffix, []).append(number)
        found = [
            tuple([n for suffix in subtree for n in by_suffix.get(suffix, ())]) for subtree in self.subtrees
        ]
        return [numbers for numbers in found if len(numbers) > 1]


def unknown_trait(world: World, names: Iterable[str]) -> TraitsMissing | None:
    for name in sorted(names):
        if name not in world.traits:
            return TraitsMissing((name,))
    return None


def unknown_class(world: World, names: Iterable[str]) -> ResourceClassMissing | None:
    for name in names:
        if name not in world.classes:
            return ResourceClassMissing(name)
    return None


def roots_wanted(world: World, index: Index, request: CandidatesRequest) -> RowSet | TraitsMissing:
    """The roots that may be anchors."""
    missing = unknown_trait(world, request.root_required) or unknown_trait(world, request.root_forbidden)
    if missing is not None:
        return missing
    steps: list[Step] = [filters.HasTrait(frozenset([trait])) for trait in request.root_required]
    if request.root_forbidden:
        steps.append(filters.LacksTraits(request.root_forbidden))
    return narrow(index, index.trees.tops, steps)


def plan_group(
    world: World,
    index: Index,
    group: Group,
    roots: RowSet,
    known: dict[object, list[Slot]],
    tally: Tally | None = None,
) -> Plan | NameMissing | None:
    """The plan for one group alone; None if nobody could serve it. `known` is kept between the groups."""
    wanted = group.conditions
    missing: NameMissing | None = unknown_class(world, group.resources)
    if missing is not None:
        return missing
    if wanted.member_of and not filters.in_all(index, wanted.member_of):
        return None
    for traits in (*wanted.required, wanted.forbidden):
        missing = unknown_trait(world, traits)
        if missing is not None:
            return missing
    tree: RowSet | None = None
    if wanted.in_tree is not None:
        provider = world.provider(wanted.in_tree)
        if provider is None:
            return None
        tree = index.rows_of_uuids(world.trees[provider.root])
    slots = _slots(index, group, roots, tree, known, tally)
    anchors = roots
    for slot in slots:
        anchors &= slot.supply.anchors
    together: tuple[RowSet, ...] = ()
    if len(slots) > 1:
        together = tuple(filters.having_any(index, any_of) for any_of in wanted.required)
        for having in together:
            anchors &= _anchors_having(index, [slot.supply for slot in slots], having)
    return Plan(slots, anchors, together) if anchors else None


def _slots(
    index: Index,
    group: Group,
    roots: RowSet,
    tree: RowSet | None,
    known: dict[object, list[Slot]],
    tally: Tally | None,
) -> tuple[Slot, ...]:
    """The slots of a group. Groups that ask for the same, and many do, are looked for once."""
    same = (group.conditions, tuple(group.resources.items()), group.one_provider)
    slots = known.get(same)
    if slots is None:
        slots = known[same] = list(slots_of(index, group, roots, tree, tally))
        return tuple(slots)
    return tuple([Slot(group.suffix, slot.resources, slot.supply) for slot in slots])


def plan_request(
    index: Index, request: CandidatesRequest, parts: Sequence[Plan], budget: Budget
) -> Plan | None:
    """All groups' plans as one, without the trees that are too small for all of them at once."""
    anchors = parts[0].anchors
    for part in parts[1:]:
        anchors &= part.anchors
    plan = Plan(
        slots=tuple([slot for part in parts for slot in part.slots]),
        anchors=anchors,
        together=tuple([having for part in parts for having in part.together]),
        isolated=request.group_policy == "isolate"
        and sum(group.one_provider for group in request.groups) > 1,
        subtrees=request.same_subtrees,
        one_of_tree=not request.nested and bool(index.children),
    )
    for name, numbers in plan.contended().items():
        slots = [plan.slots[number] for number in numbers]
        for pieces, size in _pieces([slot.resources[name] for slot in slots]):
            anchors &= _anchors_with_room(index, slots, name, pieces, size)
            budget.check()
    if plan.isolated:
        suffixed = [slot for slot in plan.slots if slot.one_provider]
        anchors &= _anchors_with_room(index, suffixed, None, len(suffixed))
    if not anchors:
        return None
    return plan if anchors == plan.anchors else replace(plan, anchors=anchors)


def _anchors_having(index: Index, supplies: Sequence[Supply], having: RowSet) -> RowSet:
    """The trees at which one of those in supply has the trait."""
    rows, anchors = NONE, NONE
    for supply in supplies:
        rows |= supply.rows & having
        for lender, lent_to in supply.lenders.items():
            if having >> lender & 1:
                anchors |= lent_to
    return anchors | index.roots_of(rows)


def _pieces(amounts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The pieces that the providers of a tree must have room for among them: their number and their size.

    So many pieces of at least this size cannot be cut up: a provider with room for 8 takes one piece of 5, though two
    of them could share 16. Neither can the sum of all amounts, in pieces of 1, be more than all room.
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
    """The trees whose providers have room for so many pieces; each has room for one where no class is given.

    Trees with a lender pass: what it has is not counted here.
    """
    rows, anchors = NONE, NONE
    for supply in {id(slot.supply): slot.supply for slot in slots}.values():
        rows |= supply.rows
        anchors |= supply.lent_to
    numbers = numbers_of(rows, index.size)
    rooms = (
        np.ones(len(numbers))
        if resource_class is None
        else index.stock(resource_class).room_by_row(index.size)[numbers] // size
    )
    sums = np.bincount(index.root_by_row()[numbers], weights=rooms, minlength=index.size)
    return anchors | rows_of_mask(sums >= pieces)
