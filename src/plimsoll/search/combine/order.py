# SPDX-License-Identifier: Apache-2.0

"""Enumerate choices: which ones, in which order, and by which method.

With a limit, choices are taken round-robin over the trees, so that a short result still covers many trees; trees are
joined in batches, and the search stops when it has enough choices. Without a limit, all choices of a tree follow each
other. Trees whose partial choices exceed the memory bound are searched by backtracking.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

from plimsoll.fast_paths import ALL, FastPaths
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.combine.backtrack import Choice, Combiner
from plimsoll.search.combine.memo import join_by_shape, join_each
from plimsoll.search.combine.tree_options import options_at
from plimsoll.search.combine.vectorised import ChoiceTable, rank_in_tree
from plimsoll.search.index.bitset import Numbers, mask_of, numbers_of, union
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan
from plimsoll.search.request import Order

_MIN_WIDTH = 8
"""Minimum of partial choices that are extended per tree, in case the first ones are dead ends."""
_MIN_BATCH = 64
"""Minimum of trees in the first batch."""
_MAX_BATCH = 8192
"""Maximum of trees that are joined at once without a limit."""
MAX_PARTIAL = 1 << 18
"""Maximum of partial choices in memory. Beyond it, fewer trees are joined at once, or a tree is backtracked."""
_MAX_BACKTRACKED = 1024
"""Up to this limit, backtracking is faster than joining the trees in smaller batches."""
MAX_CELLS = 1 << 19
"""Maximum of partial choices times slots: 4 MB; one step holds about three such tables."""
MAX_OPTIONS = 1 << 20
"""Maximum of options of all trees that are joined at once."""
_PARTIAL_PER_CHOICE = 64
"""Partial choices in memory per requested choice."""


def find_choices(
    index: Index,
    plan: Plan,
    order: Order,
    limit: int | None,
    max_choices: int,
    budget: Budget,
    fast_paths: FastPaths = ALL,
) -> Numbers:
    """Return distinct choices as a table: one line per choice, one column per slot.

    Without a limit, `max_choices` acts as the limit if there are more choices. If the budget is exceeded, the choices
    found so far are returned; raises BudgetExceeded if there are none.
    """
    shuffle = None if order.shuffle_seed is None else np.random.default_rng(order.shuffle_seed)
    enumeration = Enumeration(index, plan, shuffle, budget, fast_paths.shape_memo)
    anchors = enumeration.anchors()
    if not fast_paths.vectorised:
        found = enumeration.backtrack_all(anchors, limit, max_choices, order.strategy == "breadth-first")
    elif limit is None:
        found = enumeration.find_all(anchors, max_choices, round_robin=order.strategy == "breadth-first")
    else:
        found = enumeration.find_some(anchors, limit)
    if budget.is_exceeded and not len(found):
        raise BudgetExceeded
    return found if shuffle is None else shuffle.permutation(found)


class Enumeration:
    """The enumeration of the choices of one plan."""

    def __init__(
        self, index: Index, plan: Plan, shuffle: np.random.Generator | None, budget: Budget, shape_memo: bool
    ) -> None:
        self.index = index
        self.plan = plan
        self.shuffle = shuffle
        self.budget = budget
        self.shape_memo = shape_memo
        self.sharing_providers = frozenset(
            [row for slot in plan.slots for row in slot.supply.sharing_providers]
        )
        self.max_partial = min(MAX_PARTIAL, MAX_CELLS // len(plan.slots))

    def anchors(self) -> Numbers:
        """Return the anchors to search. Trees served only by the same sharing providers are searched once."""
        anchors = numbers_of(self.plan.anchors, self.index.size)
        if self.sharing_providers:
            anchors = np.unique(self.representatives(anchors))
        return anchors if self.shuffle is None else self.shuffle.permutation(anchors)

    def representatives(self, anchors: Numbers) -> Numbers:
        """Return, for each anchor, the one that is searched for it: the first of all that the same providers serve.

        An anchor with an option in its own tree is searched itself.
        """
        supplies = {id(slot.supply): slot.supply for slot in self.plan.slots}.values()
        own = union(self.index.roots_of(supply.rows) for supply in supplies)
        is_dependent = ~mask_of(own, self.index.size)[anchors]
        dependent = anchors[is_dependent]
        kind = np.zeros(len(dependent), np.int64)
        for supply in supplies:
            for shared_anchors in supply.sharing_providers.values():
                served = mask_of(shared_anchors, self.index.size)[dependent]
                _, kind = np.unique(kind * 2 + served, return_inverse=True)
        found = anchors.copy()
        found[is_dependent] = dependent[np.unique(kind, return_index=True)[1]][kind]
        return found

    def backtrack_all(
        self, anchors: Numbers, limit: int | None, max_choices: int, round_robin: bool
    ) -> Numbers:
        """Return the choices of all trees by backtracking alone: the plain form of `find_all` and `find_some`."""
        found = self._round_robin([])
        with contextlib.suppress(BudgetExceeded):
            if limit is None:
                part = self._backtrack(anchors, max_choices + 1, round_robin=False)
                if len(part.choices) <= max_choices:
                    return self._round_robin([part]) if round_robin else part.choices
            found = self._round_robin([self._backtrack(anchors, limit or max_choices)])
        return found

    def find_all(self, anchors: Numbers, max_choices: int, round_robin: bool) -> Numbers:
        """Return all choices. Trees that must be backtracked come last, in case the budget is exceeded."""
        parts: list[ChoiceTable] = []
        too_large: list[tuple[int, Numbers]] = []
        count = 0
        batch = min(_MAX_BATCH, self.largest_batch(anchors))
        try:
            for start in range(0, len(anchors), batch):
                for here, part in self.join_in_parts(anchors[start : start + batch], None, self.max_partial):
                    if part is None:
                        too_large.append((len(parts), here))
                        continue
                    parts.append(part)
                    count += len(part.choices)
                    if count > max_choices:
                        return self.find_some(anchors, max_choices)
                    self.budget.check()
            for place, here in reversed(too_large):
                parts.insert(place, self._backtrack(here, max_choices + 1, round_robin=False))
                count += len(parts[place].choices)
                if count > max_choices:
                    return self.find_some(anchors, max_choices)
                self.budget.check()
        except BudgetExceeded:
            pass
        if round_robin or not parts:
            return self._without_duplicates(self._round_robin(parts))
        return self._without_duplicates(np.concatenate([part.choices for part in parts]))

    def find_some(self, anchors: Numbers, limit: int) -> Numbers:
        """Return up to `limit` choices: the first choice of each tree, then the second of each, and so on."""
        best = self._round_robin([])
        try:
            for found in self._deepening(anchors, limit):
                if len(found) > len(best):
                    best = found
        except BudgetExceeded:
            pass
        return best[:limit]

    def _deepening(self, anchors: Numbers, limit: int) -> Iterator[Numbers]:
        """Yield all choices found so far after each batch, until there are enough or no more. Raises BudgetExceeded.

        Starts with few partial choices per tree, and multiplies them by 8 for trees that were truncated.
        """
        width = max(_MIN_WIDTH, -(-limit // len(anchors)))
        max_partial = min(self.max_partial, _PARTIAL_PER_CHOICE * max(limit, _MIN_BATCH))
        largest_batch = self.largest_batch(anchors)
        finished: list[ChoiceTable] = []
        while True:
            parts: list[ChoiceTable] = []
            batches: list[Numbers] = []
            found = self._without_duplicates(self._round_robin(finished))
            yield found
            start, batch = 0, min(max(limit, _MIN_BATCH), largest_batch)
            while start < len(anchors) and len(found) < limit:
                # The check below raises it again, after the choices of this batch were yielded.
                with contextlib.suppress(BudgetExceeded):
                    for here, part in self.join_in_parts(
                        anchors[start : start + batch], width, max_partial, limit > _MAX_BACKTRACKED
                    ):
                        batches.append(here)
                        parts.append(
                            part or self._backtrack(here, limit if limit <= _MAX_BACKTRACKED else width)
                        )
                found = self._without_duplicates(self._round_robin([*finished, *parts]))
                yield found
                self.budget.check()
                start += batch
                batch = min(2 * batch, largest_batch)
            if len(found) >= limit or not any(part.truncated.any() for part in parts):
                return
            # Truncated trees with a choice are joined again with more width; trees without one are backtracked.
            empty_trees = [
                here[part.truncated & ~part.has_choice] for here, part in zip(batches, parts, strict=True)
            ]
            productive_trees = [
                here[part.truncated & part.has_choice] for here, part in zip(batches, parts, strict=True)
            ]
            finished += [part.without_truncated() for part in parts]
            finished.append(self._backtrack(np.concatenate(empty_trees), limit))
            anchors = np.concatenate(productive_trees)
            width *= 8

    def largest_batch(self, anchors: Numbers) -> int:
        """Return the number of trees whose options, of all supplies, stay within MAX_OPTIONS."""
        cells = 0
        for supply in {id(slot.supply): slot.supply for slot in self.plan.slots}.values():
            cells += supply.rows.bit_count() + sum(map(int.bit_count, supply.sharing_providers.values()))
        return max(1, MAX_OPTIONS * len(anchors) // max(cells, 1))

    def join_in_parts(
        self, anchors: Numbers, width: int | None, max_partial: int, split: bool = True
    ) -> Iterator[tuple[Numbers, ChoiceTable | None]]:
        """Yield the choices of these trees, in as many parts as needed for each to fit in memory.

        Yields None for a tree that does not fit alone, or for all trees if `split` is False and they do not fit.
        """
        pending = [anchors]
        while pending:
            here = pending.pop()
            part = self._join(here, width, max_partial)
            if part is not None or not split or len(here) == 1:
                yield here, part
            else:
                half = len(here) // 2
                pending += [here[half:], here[:half]]

    def _join(self, anchors: Numbers, width: int | None, max_partial: int) -> ChoiceTable | None:
        if not self.shape_memo or self.sharing_providers or self.shuffle is not None:
            return join_each(self.index, self.plan, anchors, width, max_partial, self.budget, self.shuffle)
        return join_by_shape(self.index, self.plan, anchors, width, max_partial, self.budget)

    def _backtrack(self, anchors: Numbers, limit: int, round_robin: bool = True) -> ChoiceTable:
        """Return up to `limit` choices by backtracking; when the limit is reached, all trees count as truncated."""
        options = options_at(self.index, self.plan, anchors, self.budget, self.shuffle)
        combiner = Combiner(self.index, self.plan, self.budget)
        table = combiner.table(options, limit, self.sharing_providers, round_robin)
        nothing = np.zeros(len(anchors), np.int64)
        return ChoiceTable(table[:, 1:], table[:, 0], np.full(len(anchors), len(table) == limit), nothing)

    def _round_robin(self, parts: Sequence[ChoiceTable]) -> Numbers:
        """Return the choices of all parts, sorted by their rank within their tree."""
        if not parts:
            return np.empty((0, len(self.plan.slots)), np.int64)
        ranks = np.concatenate([rank_in_tree(part.tree) for part in parts])
        ranks = ranks.astype(np.min_scalar_type(ranks.max(initial=0)))  # small numbers are sorted faster
        found: Numbers = np.concatenate([part.choices for part in parts])
        return found[np.argsort(ranks, kind="stable")]

    def _without_duplicates(self, found: Numbers) -> Numbers:
        """Remove duplicates. Only choices made of sharing providers alone can be found at several trees."""
        if not self.sharing_providers or not len(found):
            return found
        is_sharing = np.zeros(self.index.size, np.bool_)
        is_sharing[list(self.sharing_providers)] = True
        only_sharing = np.all(is_sharing[found], axis=1)
        keep = ~only_sharing
        yielded: set[Choice] = set()
        for place, choice in zip(
            np.flatnonzero(only_sharing).tolist(), found[only_sharing].tolist(), strict=True
        ):
            self.budget.pause_if_due()
            if tuple(choice) not in yielded:
                yielded.add(tuple(choice))
                keep[place] = True
        once: Numbers = found[keep]
        return once
