# SPDX-License-Identifier: Apache-2.0

"""Trees that look alike to a plan have the same choices.

Most hosts of a cloud are of a few models. Choices are therefore worked out for one tree of each look, said in places
of the tree instead of rows, and put down for all that look like it. They depend on nothing but the look, so that they
are also kept for later searches, whatever was written in between.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine.tree_options import options_at
from plimsoll.search.combine.vectorised import Joined, in_order, join
from plimsoll.search.index.bitset import Numbers, masks_at
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

MOST_CELLS = 1 << 20
"""Trees times rows of the largest times supplies: beyond that it does not pay to compare all trees side by side."""
_MOST_NEW = 64
"""So many new looks at once are worked out one by one; where there are more, it is quicker to take all trees alike."""
_MOST_KEPT = 128
_LARGEST_KEPT = 4096
"""So many numbers the choices of one look may have to be kept."""
_LONGEST_KEPT = 1 << 15
"""Bytes of a look that may be kept: the keys of all that is kept take 4 MB at most."""


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The choices at all trees of one look."""

    places: Numbers
    """One row each, one column per slot."""
    cut: bool
    partial: Numbers
    """How many partial choices were looked at, slot after slot."""


_kept: dict[Hashable, _Found] = {}


def join_alike(
    index: Index, plan: Plan, anchors: Numbers, width: int | None, most: int, budget: Budget
) -> Joined | None:
    """What `join` finds at these trees, to which nobody lends anything."""
    sets = len({id(slot.supply) for slot in plan.slots}) + len(plan.together)
    if len(anchors) * index.trees.largest * sets > MOST_CELLS:
        return join_each(index, plan, anchors, width, most, budget)
    rows = index.trees.rows(anchors)
    view = _View(index, plan, rows)
    budget.check()
    looks, look = view.looks()
    budget.check()
    known = [_kept.get((view.asked, width, most, each)) for each in looks]
    new = [number for number, found in enumerate(known) if found is None]
    if len(new) > _MOST_NEW:
        return join_each(index, plan, anchors, width, most, budget)
    if new:
        first = [int(np.argmax(look == number)) for number in new]
        options = options_at(index, plan, anchors[first], budget)
        joined = join(index, plan, options, view.order, width, most, budget)
        if joined is None:
            return None
        for place, number in enumerate(new):
            known[number] = found = _found(index, joined, place)
            if len(looks[number]) <= _LONGEST_KEPT:
                _keep((view.asked, width, most, looks[number]), found)
    return _put_down([found for found in known if found is not None], look, rows, most)


def join_each(
    index: Index,
    plan: Plan,
    anchors: Numbers,
    width: int | None,
    most: int,
    budget: Budget,
    shuffle: np.random.Generator | None = None,
) -> Joined | None:
    """The same without regard to looks."""
    options = options_at(index, plan, anchors, budget, shuffle)
    order = in_order([len(option.rows) for option in options])
    return join(index, plan, options, order, width, most, budget)


class _View:
    """Some trees as a plan sees them."""

    def __init__(self, index: Index, plan: Plan, rows: Numbers) -> None:
        self.index = index
        self.plan = plan
        self.rows = rows
        supplies = list({id(slot.supply): slot.supply for slot in plan.slots}.values())
        number_by_id = {id(supply): number for number, supply in enumerate(supplies)}
        self.supply_of = [number_by_id[id(slot.supply)] for slot in plan.slots]
        self.marks = masks_at(
            [supply.rows for supply in supplies] + list(plan.together), rows, index.trees.nobody
        )
        """Who is offered, supply by supply, and who has what is required together."""
        counts = self.marks.reshape(len(self.marks), -1).sum(axis=1).tolist()
        self.order = in_order([counts[number] for number in self.supply_of])

    @property
    def asked(self) -> Hashable:
        """What decides about choices and is the same for all trees, and how a look is to be read."""
        plan = self.plan
        layout = len(plan.together), self.rows.shape[1]
        contended = plan.contended()
        # What is asked for by one slot alone is there: else nobody would be offered for it.
        slots = [
            (
                number,
                slot.one_provider,
                bool(slot.resources),
                *[(name, amount) for name, amount in slot.resources.items() if name in contended],
            )
            for number, slot in zip(self.supply_of, plan.slots, strict=True)
        ]
        subtrees = tuple(plan.subtree_numbers())
        return (*slots, layout, self.order, plan.isolated, plan.one_of_tree, subtrees)

    def looks(self) -> tuple[list[bytes], Numbers]:
        """The different looks, and which of them each tree has."""
        marks = self.marks.transpose(1, 0, 2).reshape(len(self.rows), -1)
        sheet = np.concatenate(
            [marks.view(np.uint8), *[part.view(np.uint8) for part in self._numbers()]], axis=1
        )
        if (sheet == sheet[0]).all():
            return [sheet[0].tobytes()], np.zeros(len(sheet), np.int64)
        text, width = sheet.tobytes(), sheet.shape[1]
        number_by_look: dict[bytes, int] = {}
        numbers = [
            number_by_look.setdefault(text[start : start + width], len(number_by_look))
            for start in range(0, len(text), width)
        ]
        return list(number_by_look), np.array(numbers)

    def _numbers(self) -> Iterator[Numbers]:
        """What else decides about choices, row by row of each tree."""
        plan = self.plan
        for name, numbers in plan.contended().items():
            wanted = sum(plan.slots[number].resources[name] for number in numbers)
            rooms = self.index.stock(name).room_by_row(self.index.trees.nobody + 1)
            offered = self.marks[sorted({self.supply_of[number] for number in numbers})].any(axis=0)
            yield np.minimum(rooms[self.rows], wanted) * offered
        if plan.subtree_numbers():
            yield self.index.trees.parent_place_by_row[self.rows]


def _found(index: Index, joined: Joined, tree: int) -> _Found:
    places = index.trees.place_by_row[joined.choices[joined.tree == tree]]
    return _Found(places, bool(joined.cut[tree]), joined.partial[:, tree])


def _keep(key: Hashable, found: _Found) -> None:
    if found.places.size <= _LARGEST_KEPT:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = found


def _put_down(found: Sequence[_Found], look: Numbers, rows: Numbers, most: int) -> Joined | None:
    """The choices of each tree, by what was found for its look."""
    partial = np.bincount(look, minlength=len(found)) @ np.array([each.partial for each in found])
    if partial.max() > most:
        return None
    sizes = np.array([len(each.places) for each in found])
    count = sizes[look]
    ends = np.cumsum(count)
    tree = np.repeat(np.arange(len(look)), count)
    place = np.arange(len(tree)) - (ends - count - (np.cumsum(sizes) - sizes)[look])[tree]
    places = np.concatenate([each.places for each in found])[place]
    cut = np.array([each.cut for each in found])[look]
    choices = rows.ravel().take(places + tree[:, None] * rows.shape[1])
    return Joined(choices, tree, cut, partial)
