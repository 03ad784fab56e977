# SPDX-License-Identifier: Apache-2.0

"""Find the trees that have at least one choice, without enumerating the choices.

Uses the same tables and the same backtracking as the enumeration, with few partial choices per tree. Trees that were
truncated and have no choice yet are joined again with all partial choices, or backtracked if these are too many.
"""

from __future__ import annotations

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine import order
from plimsoll.search.combine.backtrack import Combiner
from plimsoll.search.combine.rules import rules_of
from plimsoll.search.combine.tree_options import options_at
from plimsoll.search.index.bitset import NONE, Numbers, RowSet, mask_of, numbers_of, rows_of_numbers
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan, anchors_by_counting

_WIDTH = 8
"""Partial choices that are extended per tree."""


def anchors_with_choice(index: Index, plan: Plan, budget: Budget) -> RowSet:
    """Return the anchors of a plan that have a choice; each must have an option for each slot. Raises BudgetExceeded."""
    if not plan.anchors or not rules_of(plan):
        return plan.anchors
    anchors = anchors_by_counting(index, plan, budget)
    if index.flat or not anchors:
        return anchors
    enumeration = order.Enumeration(index, plan, None, budget, shape_memo=True)
    all_numbers = numbers_of(anchors, index.size)
    searched = enumeration.representatives(all_numbers) if enumeration.sharing_providers else all_numbers
    found, numbers = NONE, np.unique(searched) if enumeration.sharing_providers else all_numbers
    for width in (_WIDTH, None):
        truncated: list[Numbers] = []
        batch = enumeration.largest_batch(numbers)
        for start in range(0, len(numbers), batch):
            for here, part in enumeration.join_in_parts(
                numbers[start : start + batch], width, enumeration.max_partial
            ):
                if part is None:
                    found |= _backtracked(index, plan, here, budget)
                else:
                    has_choice = part.has_choice
                    found |= rows_of_numbers(here[has_choice], index.size)
                    truncated.append(here[part.truncated & ~has_choice])
                budget.check()
        numbers = np.concatenate(truncated) if truncated else numbers[:0]
        if not len(numbers):
            break
    if enumeration.sharing_providers:
        return rows_of_numbers(all_numbers[mask_of(found, index.size)[searched]], index.size)
    return found


def _backtracked(index: Index, plan: Plan, anchors: Numbers, budget: Budget) -> RowSet:
    """Return those of the anchors at which backtracking finds a choice."""
    options = options_at(index, plan, anchors, budget)
    combiner = Combiner(index, plan, budget)
    found = [
        next(combiner.at(tree, [option.at(tree) for option in options]), None) is not None
        for tree in range(len(anchors))
    ]
    return rows_of_numbers(anchors[np.array(found)], index.size)
