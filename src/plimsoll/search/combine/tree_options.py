# SPDX-License-Identifier: Apache-2.0

"""For some trees, who may be chosen for each slot: the supply of a plan, sorted by tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.index.bitset import Numbers, numbers_of, rows_of_numbers
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """The rows that may be chosen for one slot. Trees are counted as the anchors were given."""

    rows: Numbers
    """First all rows of the first tree, then those of the second, and so on."""
    start: Numbers
    count: Numbers

    def at(self, tree: int) -> list[int]:
        start = self.start[tree]
        rows: list[int] = self.rows[start : start + self.count[tree]].tolist()
        return rows


def options_at(
    index: Index,
    plan: Plan,
    anchors: Numbers,
    budget: Budget,
    shuffle: np.random.Generator | None = None,
) -> list[Options]:
    """The options for each slot. Slots with the same supply get the same object."""
    tree_of = np.full(index.size, -1, np.int64)
    tree_of[anchors] = np.arange(len(anchors))
    roots = rows_of_numbers(anchors, index.size)
    near = index.below(roots)
    made: dict[int, Options] = {}
    for slot in plan.slots:
        if id(slot.supply) not in made:
            rows = numbers_of(slot.supply.rows & near, index.size)
            tree = tree_of[index.root_by_row()[rows]]
            for lender, lent_to in slot.supply.lenders.items():
                served = tree_of[numbers_of(lent_to & roots, index.size)]
                rows = np.concatenate([rows, np.full(len(served), lender)])
                tree = np.concatenate([tree, served])
                budget.check()
            made[id(slot.supply)] = _sorted(rows, tree, len(anchors), shuffle)
            budget.check()
    return [made[id(slot.supply)] for slot in plan.slots]


def _sorted(rows: Numbers, tree: Numbers, trees: int, shuffle: np.random.Generator | None) -> Options:
    if shuffle is not None:
        mixed = shuffle.permutation(len(rows))
        rows, tree = rows[mixed], tree[mixed]
    if (tree[1:] < tree[:-1]).any():
        order = np.argsort(tree, kind="stable")
        rows, tree = rows[order], tree[order]
    count = np.bincount(tree, minlength=trees)
    return Options(rows, np.cumsum(count) - count, count)
