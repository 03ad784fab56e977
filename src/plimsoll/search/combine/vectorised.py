# SPDX-License-Identifier: Apache-2.0

"""All ways to fill the slots of a plan, for many trees at once: slot by slot, a table of partial choices grows.

After each slot the choices that broke a rule are dropped, and of each tree only as many are kept as were asked
for. Trees of which choices were left out that way are told, so that the caller can come back for more; what
would not fit in memory is given up, and `combine` finds it one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine.tree_options import Options
from plimsoll.search.index.bitset import Mask, Numbers, mask_of
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

_AHEAD = 16
"""So many times the partial choices that are kept are looked at, as most rules leave many of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Choices (one row each, one column per slot), the tree of each, in the order of the trees."""

    choices: Numbers
    tree: Numbers
    cut: Mask
    """By tree: whether it may have more."""
    partial: Numbers
    """How many partial choices were looked at, slot after slot; by tree, where that is known."""

    @property
    def turn(self) -> Numbers:
        """0 for the first choice of each tree, 1 for its second, and so on."""
        return _turn(self.tree)

    @property
    def found(self) -> Mask:
        """By tree: whether anything was found."""
        found = np.zeros_like(self.cut)
        found[self.tree] = True
        return found

    def finished(self) -> Joined:
        """Without the trees that may have more."""
        keep = ~self.cut[self.tree]
        return Joined(self.choices[keep], self.tree[keep], np.zeros_like(self.cut), self.partial)


def in_order(counts: Sequence[int]) -> tuple[int, ...]:
    """The slots in the order in which they are filled, by how many options they have in all: few first."""
    return tuple(sorted(range(len(counts)), key=counts.__getitem__))


def join(
    index: Index,
    plan: Plan,
    options: Sequence[Options],
    order: Sequence[int],
    width: int | None,
    most: int,
    budget: Budget,
) -> Joined | None:
    """The slots are filled in this order, and up to `width` partial choices of each tree are followed.

    None if there are more than `most` in all. Each step on all of them together takes about a millisecond at most;
    the budget is checked between two steps. Raises BudgetExceeded.
    """
    rules = _Rules(index, plan, options, budget)
    trees = len(options[0].count)
    tree = np.arange(trees)
    cut = np.zeros(trees, np.bool_)
    chosen: dict[int, Numbers] = {}
    partial: list[Numbers] = []
    for number in order:
        budget.check()
        option = options[number]
        if width is not None:
            enough = _enough(tree, option.count, width * _AHEAD, cut)
            tree, chosen = _only(tree, chosen, enough, budget)
        count = option.count[tree]
        ends = np.cumsum(count)
        total = int(ends[-1]) if len(ends) else 0
        if total > most:
            return None
        base = np.repeat(np.arange(len(tree)), count)
        place = np.arange(total) - (ends - count - option.start[tree])[base]
        tree, chosen = _only(tree, chosen, base, budget)
        partial.append(np.bincount(tree, minlength=trees))
        chosen[number] = option.rows[place]
        keep = rules.kept(chosen, number, place)
        if width is not None:
            keep = _first(tree, keep, width, cut)
        tree, chosen = _only(tree, chosen, keep, budget)
    choices = np.column_stack([chosen[number] for number in range(len(options))])
    return Joined(choices, tree, cut, np.array(partial))


def _only(
    tree: Numbers, chosen: dict[int, Numbers], which: Numbers | Mask | None, budget: Budget
) -> tuple[Numbers, dict[int, Numbers]]:
    if which is None:
        return tree, chosen
    if which.dtype == np.bool_:
        which = np.flatnonzero(which)
    for number in chosen:
        chosen[number] = chosen[number][
            which
        ]  # one after the other: all columns twice would take much memory
        budget.check()
    return tree[which], chosen


def _enough(tree: Numbers, count: Numbers, most: int, cut: Mask) -> Mask | None:
    """Of each tree the first partial choices that have `most` continuations; marks the trees with more."""
    if int(count[tree].sum()) <= most:
        return None
    continued = np.cumsum(count[tree]) - count[tree]
    first = np.searchsorted(tree, np.arange(len(count)))
    before = continued - np.append(continued, 0)[first][tree]
    enough: Mask = before < most
    cut[tree[~enough]] = True
    return enough


def _turn(tree: Numbers) -> Numbers:
    count = np.bincount(tree)
    return np.arange(len(tree)) - (np.cumsum(count) - count)[tree]


def _first(tree: Numbers, keep: Mask | None, width: int, cut: Mask) -> Mask | None:
    """Of those to keep only the first `width` of each tree; marks the trees where there were more."""
    kept = tree if keep is None else tree[keep]
    if len(kept) <= width:
        return keep
    over = _turn(kept) >= width
    if not over.any():
        return keep
    cut[kept[over]] = True
    if keep is None:
        return ~over
    keep[keep] = ~over
    return keep


class _Rules:
    """The rules of `rules.py` once more, for whole columns of choices."""

    def __init__(self, index: Index, plan: Plan, options: Sequence[Options], budget: Budget) -> None:
        self.index = index
        self.plan = plan
        self.budget = budget
        self.options = options
        self.rooms: dict[tuple[str, int], Numbers] = {}
        self.contended = plan.contended()
        self.unsuffixed = plan.numbers("")
        self.subtrees = plan.subtree_numbers()
        self.having = [mask_of(having, index.size) for having in plan.together]

    def kept(self, chosen: dict[int, Numbers], new: int, place: Numbers) -> Mask | None:
        """Which partial choices are still good now that slot `new` was filled, from these places of its options.

        None says: all.
        """
        keep: Mask | None = None
        for check in chain(
            self._isolated(chosen, new),
            self._with_room(chosen, new, place),
            self._one_of_tree(chosen, new),
            self._together(chosen, new),
            self._in_subtree(chosen, new),
        ):
            keep = check if keep is None else keep & check
            self.budget.check()
        return keep

    def _isolated(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        slots = self.plan.slots
        if self.plan.isolated and slots[new].one_provider:
            for done, rows in chosen.items():
                if done != new and slots[done].one_provider:
                    yield chosen[new] != rows

    def _with_room(self, chosen: dict[int, Numbers], new: int, place: Numbers) -> Iterator[Mask]:
        for name, numbers in self.contended.items():
            earlier = [number for number in numbers if number in chosen and number != new]
            if new not in numbers or not earlier:
                continue
            taken = np.full(len(chosen[new]), self.plan.slots[new].resources[name])
            for number in earlier:
                taken += (chosen[number] == chosen[new]) * self.plan.slots[number].resources[name]
                self.budget.check()
            yield taken <= self._rooms(name, self.options[new])[place]

    def _rooms(self, name: str, options: Options) -> Numbers:
        rooms = self.rooms.get((name, id(options)))
        if rooms is None:
            rooms = self.rooms[name, id(options)] = self.index.stock(name).room_by_row(self.index.size)[
                options.rows
            ]
        return rooms

    def _one_of_tree(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        slots = self.plan.slots
        if self.plan.one_of_tree and slots[new].resources:
            roots = self.index.root_by_row()
            for done, rows in chosen.items():
                if done != new and slots[done].resources:
                    yield (rows == chosen[new]) | (roots[rows] != roots[chosen[new]])

    def _together(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        if not self.having or new not in self.unsuffixed or not chosen.keys() >= set(self.unsuffixed):
            return
        for having in self.having:
            check = having[chosen[new]]
            for number in self.unsuffixed:
                if number != new:
                    check = check | having[chosen[number]]
                    self.budget.check()
            yield check

    def _in_subtree(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        for numbers in self.subtrees:
            if new in numbers and chosen.keys() >= set(numbers):
                yield self._have_top([chosen[number] for number in numbers])

    def _have_top(self, members: Sequence[Numbers]) -> Mask:
        """Whether one of the members is the ancestor of all."""
        parents = self.index.parent_by_row()
        tops = [np.ones(len(members[0]), np.bool_) for _ in members]
        for member in members:
            above = [np.zeros(len(member), np.bool_) for _ in members]
            climber = member
            while (climber >= 0).any():
                for seen, other in zip(above, members, strict=True):
                    np.logical_or(seen, climber == other, out=seen)
                    self.budget.check()
                climber = np.where(climber >= 0, parents[climber], np.int64(-1))
            tops = [top & seen for top, seen in zip(tops, above, strict=True)]
        has_top = tops[0]
        for top in tops[1:]:
            has_top = has_top | top
        return has_top
