# SPDX-License-Identifier: Apache-2.0

"""The options of each slot at each tree: the supply of a plan, grouped by tree, or as bits for one tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TypeAlias

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.index.bitset import Numbers, numbers_of, rows_of_numbers
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

Bits: TypeAlias = int
"""Some options of one tree, each a bit."""


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The rows that may be chosen for one slot. Trees are numbered in the order of the anchors."""

    rows: Numbers
    """The rows of the first tree, then of the second, and so on."""
    start: Numbers
    count: Numbers

    def at(self, tree: int) -> list[int]:
        start = self.start[tree]
        rows: list[int] = self.rows[start : start + self.count[tree]].tolist()
        return rows


def options_at(
    index: Index, plan: Plan, anchors: Numbers, budget: Budget, shuffle: np.random.Generator | None = None
) -> list[Options]:
    """Return the options of each slot. Slots with the same supply share one object."""
    tree_of = np.full(index.size, -1, np.int64)
    tree_of[anchors] = np.arange(len(anchors))
    roots = rows_of_numbers(anchors, index.size)
    tree_rows = index.rows_of_trees(roots)
    options_by_supply: dict[int, Options] = {}
    for slot in plan.slots:
        if id(slot.supply) not in options_by_supply:
            rows = numbers_of(slot.supply.rows & tree_rows, index.size)
            tree = tree_of[index.root_by_row()[rows]]
            for sharing_provider, shared_anchors in slot.supply.sharing_providers.items():
                served = tree_of[numbers_of(shared_anchors & roots, index.size)]
                rows = np.concatenate([rows, np.full(len(served), sharing_provider)])
                tree = np.concatenate([tree, served])
                budget.check()
            options_by_supply[id(slot.supply)] = _group_by_tree(rows, tree, len(anchors), shuffle)
            budget.check()
    return [options_by_supply[id(slot.supply)] for slot in plan.slots]


def _group_by_tree(rows: Numbers, tree: Numbers, trees: int, shuffle: np.random.Generator | None) -> Options:
    if shuffle is not None:
        shuffled = shuffle.permutation(len(rows))
        rows, tree = rows[shuffled], tree[shuffled]
    if (tree[1:] < tree[:-1]).any():
        order = np.argsort(tree, kind="stable")
        rows, tree = rows[order], tree[order]
    count = np.bincount(tree, minlength=trees)
    return Options(rows, np.cumsum(count) - count, count)


class TreeBits:
    """The options of one tree as bits; each tree numbers its own. Slots with few options come first, to fail early."""

    def __init__(self, index: Index, plan: Plan, budget: Budget, options: Sequence[Sequence[int]]) -> None:
        self.index = index
        self.plan = plan
        self.budget = budget
        order = sorted(range(len(options)), key=lambda number: len(options[number]))
        self.depth_of = {number: depth for depth, number in enumerate(order)}
        self.row_of: dict[Bits, int] = {}
        self._bit_of: dict[int, Bits] = {}
        self.masks: list[Bits] = []
        """By depth: the options of the slot."""
        for number in order:
            mask = 0
            for row in options[number]:
                bit = self._bit_of.get(row)
                if bit is None:
                    bit = self._bit_of[row] = 1 << len(self._bit_of)
                    self.row_of[bit] = row
                mask |= bit
            self.masks.append(mask)
            budget.spend(len(options[number]) >> 3)

    def options_of(self, numbers: Iterable[int]) -> Bits:
        """Return all options of these slots."""
        return reduce(or_, [self.masks[self.depth_of[number]] for number in numbers])

    def options_after(self, numbers: Iterable[int]) -> dict[int, Bits]:
        """Return, for the depth of each of these slots, the options of those that are filled later."""
        later_options: dict[int, Bits] = {}
        bits = 0
        for depth in sorted((self.depth_of[number] for number in numbers), reverse=True):
            later_options[depth] = bits
            bits |= self.masks[depth]
        return later_options

    @cached_property
    def ancestors(self) -> dict[Bits, Bits]:
        """Each option with its ancestors, as far as they are options."""
        parents = self.index.parent_by_row()
        ancestors: dict[Bits, Bits] = {}
        for bit, row in self.row_of.items():
            bits = 0
            while row >= 0:
                bits |= self._bit_of.get(row, 0)
                row = parents.item(row)
                self.budget.spend()
            ancestors[bit] = bits
        return ancestors
