# SPDX-License-Identifier: Apache-2.0

"""Compute choices once per tree shape, and cache them.

Most hosts of a cloud are of a few models. The shape of a tree is everything that decides about the choices of a plan.
Choices are computed for one tree of each shape, as places in the tree instead of rows, and expanded to all trees of the
shape. They depend on the shape alone, so cached choices stay valid after writes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine.rules import rules_of
from plimsoll.search.combine.tree_options import options_at
from plimsoll.search.combine.vectorised import ChoiceTable, fill_order, join
from plimsoll.search.index.bitset import Numbers, masks_at
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

MAX_CELLS = 1 << 20
"""Bound on trees x rows of the largest tree x row sets. Beyond it, computing shapes costs more than it saves."""
_MAX_NEW_SHAPES = 64
"""With more shapes that are not cached, joining every tree is faster."""
_MAX_CACHED = 128
_MAX_CACHED_CELLS = 4096
"""Maximum size of the cached choices of one shape, in numbers."""
_MAX_KEY_BYTES = 1 << 15
"""Maximum size of a shape that is cached: all keys together take at most 4 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class _ShapeChoices:
    """The choices at every tree of one shape."""

    places: Numbers
    """One line per choice, one column per slot: places of rows in the tree."""
    truncated: bool
    partial_counts: Numbers
    """The number of partial choices examined, for each slot."""


_cache: dict[Hashable, _ShapeChoices] = {}


def join_by_shape(
    index: Index, plan: Plan, anchors: Numbers, width: int | None, max_partial: int, budget: Budget
) -> ChoiceTable | None:
    """Return the result of `join` for these trees, none of which a sharing provider of another tree can serve."""
    sets = len({id(slot.supply) for slot in plan.slots}) + len(plan.required_traits)
    if len(anchors) * index.trees.largest_size * sets > MAX_CELLS:
        return join_each(index, plan, anchors, width, max_partial, budget)
    rows = index.trees.rows(anchors)
    tree_shapes = _TreeShapes(index, plan, rows)
    budget.check()
    shapes, shape_of_tree = tree_shapes.shapes()
    budget.check()
    choices_by_shape = [_cache.get((tree_shapes.plan_key, width, max_partial, each)) for each in shapes]
    new = [number for number, found in enumerate(choices_by_shape) if found is None]
    if len(new) > _MAX_NEW_SHAPES:
        return join_each(index, plan, anchors, width, max_partial, budget)
    if new:
        first = [int(np.argmax(shape_of_tree == number)) for number in new]
        options = options_at(index, plan, anchors[first], budget)
        joined = join(index, plan, options, tree_shapes.order, width, max_partial, budget)
        if joined is None:
            return None
        for place, number in enumerate(new):
            choices_by_shape[number] = found = _choices_of_tree(index, joined, place)
            if len(shapes[number]) <= _MAX_KEY_BYTES:
                _cache_choices((tree_shapes.plan_key, width, max_partial, shapes[number]), found)
    return _expand(
        [found for found in choices_by_shape if found is not None], shape_of_tree, rows, max_partial
    )


def join_each(
    index: Index,
    plan: Plan,
    anchors: Numbers,
    width: int | None,
    max_partial: int,
    budget: Budget,
    shuffle: np.random.Generator | None = None,
) -> ChoiceTable | None:
    """Return the result of `join` for these trees, without shapes and cache."""
    options = options_at(index, plan, anchors, budget, shuffle)
    order = fill_order([len(option.rows) for option in options])
    return join(index, plan, options, order, width, max_partial, budget)


class _TreeShapes:
    """The shapes of some trees for one plan."""

    def __init__(self, index: Index, plan: Plan, rows: Numbers) -> None:
        self.index = index
        self.plan = plan
        self.rows = rows
        supplies = list({id(slot.supply): slot.supply for slot in plan.slots}.values())
        number_by_id = {id(supply): number for number, supply in enumerate(supplies)}
        self.supply_of = [number_by_id[id(slot.supply)] for slot in plan.slots]
        self.rules = rules_of(plan)
        trait_rows = [scope.rows for _, scope in self.rules if scope.rows]
        self.masks = masks_at([*[supply.rows for supply in supplies], *trait_rows], rows, index.trees.no_row)
        """By row set, tree and place: is the row in the supply, or in the rows of a rule?"""
        counts = self.masks.reshape(len(self.masks), -1).sum(axis=1).tolist()
        self.order = fill_order([counts[number] for number in self.supply_of])

    @property
    def plan_key(self) -> Hashable:
        """The part of the cache key that is the same for all trees: the rules, and the layout of a shape."""
        scopes = [(rule.name, scope.slots, scope.resource_class) for rule, scope in self.rules]
        contended = {name for _, _, name in scopes}
        # An amount of a class that only one slot requests needs no check: each provider of its supply has room for it.
        slots = [
            (number, *[(name, amount) for name, amount in slot.resources.items() if name in contended])
            for number, slot in zip(self.supply_of, self.plan.slots, strict=True)
        ]
        return (*slots, *scopes, self.order, self.rows.shape[1])

    def shapes(self) -> tuple[list[bytes], Numbers]:
        """Return the distinct shapes, and the number of each tree's shape."""
        masks = self.masks.transpose(1, 0, 2).reshape(len(self.rows), -1)
        table = np.concatenate(
            [masks.view(np.uint8), *[part.view(np.uint8) for part in self._numbers()]], axis=1
        )
        if (table == table[0]).all():
            return [table[0].tobytes()], np.zeros(len(table), np.int64)
        text, width = table.tobytes(), table.shape[1]
        number_by_shape: dict[bytes, int] = {}
        numbers = [
            number_by_shape.setdefault(text[start : start + width], len(number_by_shape))
            for start in range(0, len(text), width)
        ]
        return list(number_by_shape), np.array(numbers)

    def _numbers(self) -> Iterator[Numbers]:
        """Yield the numbers that decide about choices, for each row of each tree: room and place of the parent."""
        for _, scope in self.rules:
            if scope.resource_class:
                name = scope.resource_class
                wanted = sum(self.plan.slots[number].resources[name] for number in scope.slots)
                rooms = self.index.class_column(name).room_by_row(self.index.trees.no_row + 1)
                is_option = self.masks[sorted({self.supply_of[number] for number in scope.slots})].any(axis=0)
                yield np.minimum(rooms[self.rows], wanted) * is_option
        if any(rule.by_place for rule, _ in self.rules):
            yield self.index.trees.parent_place_by_row[self.rows]


def _choices_of_tree(index: Index, joined: ChoiceTable, tree: int) -> _ShapeChoices:
    places = index.trees.place_by_row[joined.choices[joined.tree == tree]]
    return _ShapeChoices(places, bool(joined.truncated[tree]), joined.partial_counts[:, tree])


def _cache_choices(key: Hashable, found: _ShapeChoices) -> None:
    if found.places.size <= _MAX_CACHED_CELLS:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[key] = found


def _expand(
    found: Sequence[_ShapeChoices], shape_of_tree: Numbers, rows: Numbers, max_partial: int
) -> ChoiceTable | None:
    """Return the choices of each tree, from the choices of its shape."""
    partial_counts = np.bincount(shape_of_tree, minlength=len(found)) @ np.array(
        [each.partial_counts for each in found]
    )
    if partial_counts.max() > max_partial:
        return None
    sizes = np.array([len(each.places) for each in found])
    count = sizes[shape_of_tree]
    ends = np.cumsum(count)
    tree = np.repeat(np.arange(len(shape_of_tree)), count)
    place = np.arange(len(tree)) - (ends - count - (np.cumsum(sizes) - sizes)[shape_of_tree])[tree]
    places = np.concatenate([each.places for each in found])[place]
    truncated = np.array([each.truncated for each in found])[shape_of_tree]
    choices = rows.ravel().take(places + tree[:, None] * rows.shape[1])
    return ChoiceTable(choices, tree, truncated, partial_counts)
