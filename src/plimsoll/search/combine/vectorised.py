# SPDX-License-Identifier: Apache-2.0

"""Vectorised combination: fill the slots of a plan for many trees at once, in a table of partial choices.

After each slot, choices that break a rule are removed, and at most `width` choices per tree are kept. Trees that lost
choices this way are marked as truncated, so that the caller can repeat them with more width. A table that would exceed
the memory bound is abandoned; `order.py` then splits the trees or uses `backtrack.py`.
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

_EXPANSION_FACTOR = 16
"""Partial choices that are examined per choice that is kept; the rules remove some of them."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceTable:
    """Choices (one line each, one column per slot) and the tree of each, sorted by tree."""

    choices: Numbers
    tree: Numbers
    truncated: Mask
    """By tree: whether it may have more choices."""
    partial_counts: Numbers
    """The number of partial choices examined, by slot and, after `join`, by tree."""

    @property
    def rank_in_tree(self) -> Numbers:
        """0 for the first choice of each tree, 1 for its second, and so on."""
        return _rank_in_tree(self.tree)

    @property
    def has_choice(self) -> Mask:
        """By tree: whether it has a choice."""
        found = np.zeros_like(self.truncated)
        found[self.tree] = True
        return found

    def without_truncated(self) -> ChoiceTable:
        """Return a table without the truncated trees."""
        keep = ~self.truncated[self.tree]
        return ChoiceTable(
            self.choices[keep], self.tree[keep], np.zeros_like(self.truncated), self.partial_counts
        )


def fill_order(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the slots in the order in which they are filled: fewest options first."""
    return tuple(sorted(range(len(counts)), key=counts.__getitem__))


def join(
    index: Index,
    plan: Plan,
    options: Sequence[Options],
    order: Sequence[int],
    width: int | None,
    max_partial: int,
    budget: Budget,
) -> ChoiceTable | None:
    """Fill the slots in this order, extending up to `width` partial choices per tree (None: all).

    Returns None if there are more than `max_partial` partial choices. Each step on the whole table takes at most about
    a millisecond; the budget is checked between steps. Raises BudgetExceeded.
    """
    rules = _ColumnRules(index, plan, options, budget)
    trees = len(options[0].count)
    tree = np.arange(trees)
    truncated = np.zeros(trees, np.bool_)
    chosen: dict[int, Numbers] = {}
    partial_counts: list[Numbers] = []
    for number in order:
        budget.check()
        option = options[number]
        if width is not None:
            within_limit = _limit_expansion(tree, option.count, width * _EXPANSION_FACTOR, truncated)
            tree, chosen = _select(tree, chosen, within_limit, budget)
        count = option.count[tree]
        ends = np.cumsum(count)
        total = int(ends[-1]) if len(ends) else 0
        if total > max_partial:
            return None
        base = np.repeat(np.arange(len(tree)), count)
        place = np.arange(total) - (ends - count - option.start[tree])[base]
        tree, chosen = _select(tree, chosen, base, budget)
        partial_counts.append(np.bincount(tree, minlength=trees))
        chosen[number] = option.rows[place]
        keep = rules.check(chosen, number, place)
        if width is not None:
            keep = _limit_per_tree(tree, keep, width, truncated)
        tree, chosen = _select(tree, chosen, keep, budget)
    choices = np.column_stack([chosen[number] for number in range(len(options))])
    return ChoiceTable(choices, tree, truncated, np.array(partial_counts))


def _select(
    tree: Numbers, chosen: dict[int, Numbers], selected: Numbers | Mask | None, budget: Budget
) -> tuple[Numbers, dict[int, Numbers]]:
    if selected is None:
        return tree, chosen
    if selected.dtype == np.bool_:
        selected = np.flatnonzero(selected)
    for number in chosen:
        # One column at a time: copies of all columns at once would need twice the memory.
        chosen[number] = chosen[number][selected]
        budget.check()
    return tree[selected], chosen


def _limit_expansion(tree: Numbers, count: Numbers, max_partial: int, truncated: Mask) -> Mask | None:
    """Select, per tree, the first partial choices with `max_partial` extensions in total; mark trees with more."""
    if int(count[tree].sum()) <= max_partial:
        return None
    extensions_before = np.cumsum(count[tree]) - count[tree]
    first = np.searchsorted(tree, np.arange(len(count)))
    before = extensions_before - np.append(extensions_before, 0)[first][tree]
    within_limit: Mask = before < max_partial
    truncated[tree[~within_limit]] = True
    return within_limit


def _rank_in_tree(tree: Numbers) -> Numbers:
    count = np.bincount(tree)
    return np.arange(len(tree)) - (np.cumsum(count) - count)[tree]


def _limit_per_tree(tree: Numbers, keep: Mask | None, width: int, truncated: Mask) -> Mask | None:
    """Keep only the first `width` choices of each tree; mark trees that had more as truncated."""
    kept = tree if keep is None else tree[keep]
    if len(kept) <= width:
        return keep
    over = _rank_in_tree(kept) >= width
    if not over.any():
        return keep
    truncated[kept[over]] = True
    if keep is None:
        return ~over
    keep[keep] = ~over
    return keep


class _ColumnRules:
    """The rules of `rules.py`, applied to whole columns of choices."""

    def __init__(self, index: Index, plan: Plan, options: Sequence[Options], budget: Budget) -> None:
        self.index = index
        self.plan = plan
        self.budget = budget
        self.options = options
        self.rooms: dict[tuple[str, int], Numbers] = {}
        self.contended = plan.contended()
        self.unsuffixed = plan.slots_of_group("")
        self.subtrees = plan.subtree_numbers()
        self.trait_rows = [mask_of(trait_rows, index.size) for trait_rows in plan.required_traits]

    def check(self, chosen: dict[int, Numbers], new: int, place: Numbers) -> Mask | None:
        """Return a mask of the partial choices that break no rule after slot `new` was filled; None: all of them.

        `place` is the index of each chosen row in the options of the slot.
        """
        keep: Mask | None = None
        for passed in chain(
            self._isolated(chosen, new),
            self._with_room(chosen, new, place),
            self._one_per_tree(chosen, new),
            self._has_required_traits(chosen, new),
            self._in_subtree(chosen, new),
        ):
            keep = passed if keep is None else keep & passed
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
            rooms = self.rooms[name, id(options)] = self.index.class_column(name).room_by_row(
                self.index.size
            )[options.rows]
        return rooms

    def _one_per_tree(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        slots = self.plan.slots
        if self.plan.one_per_tree and slots[new].resources:
            roots = self.index.root_by_row()
            for done, rows in chosen.items():
                if done != new and slots[done].resources:
                    yield (rows == chosen[new]) | (roots[rows] != roots[chosen[new]])

    def _has_required_traits(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        if not self.trait_rows or new not in self.unsuffixed or not chosen.keys() >= set(self.unsuffixed):
            return
        for trait_rows in self.trait_rows:
            check = trait_rows[chosen[new]]
            for number in self.unsuffixed:
                if number != new:
                    check = check | trait_rows[chosen[number]]
                    self.budget.check()
            yield check

    def _in_subtree(self, chosen: dict[int, Numbers], new: int) -> Iterator[Mask]:
        for numbers in self.subtrees:
            if new in numbers and chosen.keys() >= set(numbers):
                yield self._one_is_ancestor_of_all([chosen[number] for number in numbers])

    def _one_is_ancestor_of_all(self, members: Sequence[Numbers]) -> Mask:
        """Return, for each choice, whether one of its members is an ancestor of all members."""
        parents = self.index.parent_by_row()
        tops = [np.ones(len(members[0]), np.bool_) for _ in members]
        for member in members:
            above = [np.zeros(len(member), np.bool_) for _ in members]
            ancestor = member
            while (ancestor >= 0).any():
                for is_ancestor, other in zip(above, members, strict=True):
                    np.logical_or(is_ancestor, ancestor == other, out=is_ancestor)
                    self.budget.check()
                ancestor = np.where(ancestor >= 0, parents[ancestor], np.int64(-1))
            tops = [top & is_ancestor for top, is_ancestor in zip(tops, above, strict=True)]
        has_ancestor = tops[0]
        for top in tops[1:]:
            has_ancestor = has_ancestor | top
        return has_ancestor
