# SPDX-License-Identifier: Apache-2.0

"""Vectorised combination: fill the slots of a plan for many trees at once, in a table of partial choices.

After each slot, choices that break a rule are removed, and at most `width` choices per tree are kept. Trees that lost
choices this way are marked as truncated, so that the caller can repeat them with more width. A table that would exceed
the memory bound is abandoned; `order.py` then splits the trees or uses `backtrack.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine.rules import PartialChoices, rules_of
from plimsoll.search.combine.tree_options import Options
from plimsoll.search.index.bitset import Mask, Numbers
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
    def has_choice(self) -> Mask:
        """By tree: whether it has a choice."""
        found = np.zeros_like(self.truncated)
        found[self.tree] = True
        return found

    def without_truncated(self) -> ChoiceTable:
        """Return a table without the truncated trees."""
        keep = ~self.truncated[self.tree]
        return replace(
            self, choices=self.choices[keep], tree=self.tree[keep], truncated=np.zeros_like(self.truncated)
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
    rules = rules_of(plan)
    partial = PartialChoices(index, plan, budget)
    chosen = partial.chosen
    trees = len(options[0].count)
    tree = np.arange(trees)
    truncated = np.zeros(trees, np.bool_)
    partial_counts: list[Numbers] = []
    for number in order:
        budget.check()
        option = options[number]
        if width is not None:
            within_limit = _limit_expansion(tree, option.count, width * _EXPANSION_FACTOR, truncated)
            tree = _select(tree, chosen, within_limit, budget)
        count = option.count[tree]
        ends = np.cumsum(count)
        total = int(ends[-1]) if len(ends) else 0
        if total > max_partial:
            return None
        base = np.repeat(np.arange(len(tree)), count)
        place = np.arange(total) - (ends - count - option.start[tree])[base]
        tree = _select(tree, chosen, base, budget)
        partial_counts.append(np.bincount(tree, minlength=trees))
        chosen[number] = option.rows[place]
        keep: Mask | None = None
        for rule, scope in rules:
            for passed in rule.columns(partial, scope, number) if number in scope.slots else ():
                keep = passed if keep is None else keep & passed
                budget.check()
        if width is not None:
            keep = _limit_per_tree(tree, keep, width, truncated)
        tree = _select(tree, chosen, keep, budget)
    choices = np.column_stack([chosen[number] for number in range(len(options))])
    return ChoiceTable(choices, tree, truncated, np.array(partial_counts))


def _select(
    tree: Numbers, chosen: dict[int, Numbers], selected: Numbers | Mask | None, budget: Budget
) -> Numbers:
    """Replace the columns of `chosen` by the selected partial choices, and return their trees."""
    if selected is None:
        return tree
    if selected.dtype == np.bool_:
        selected = np.flatnonzero(selected)
    for number in chosen:
        # One column at a time: copies of all columns at once would need twice the memory.
        chosen[number] = chosen[number][selected]
        budget.check()
    return tree[selected]


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


def rank_in_tree(tree: Numbers) -> Numbers:
    """Return 0 for the first choice of each tree, 1 for its second, and so on."""
    count = np.bincount(tree)
    return np.arange(len(tree)) - (np.cumsum(count) - count)[tree]


def _limit_per_tree(tree: Numbers, keep: Mask | None, width: int, truncated: Mask) -> Mask | None:
    """Keep only the first `width` choices of each tree; mark trees that had more as truncated."""
    kept = tree if keep is None else tree[keep]
    if len(kept) <= width:
        return keep
    over = rank_in_tree(kept) >= width
    if not over.any():
        return keep
    truncated[kept[over]] = True
    if keep is None:
        return ~over
    keep[keep] = ~over
    return keep
