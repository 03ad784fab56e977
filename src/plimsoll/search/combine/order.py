# SPDX-License-Identifier: Apache-2.0

"""Which choices are taken, and in which order.

With a limit trees take turns, so that a small answer still spans many of them; without one they come one
after the other. With a limit trees are also opened in batches, so that a search which has enough has not
looked at the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.combine.backtrack import Choice, Combiner
from plimsoll.search.combine.memo import join_alike, join_each
from plimsoll.search.combine.tree_options import options_at
from plimsoll.search.combine.vectorised import Joined
from plimsoll.search.index.bitset import (
    NONE,
    Mask,
    Numbers,
    mask_of,
    numbers_of,
)
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan
from plimsoll.search.request import Order

_Found = tuple[int, Choice]
"""A tree and one of its choices."""

_WIDTH = 8
"""So many partial choices of a tree are followed at least, in case the first ones lead nowhere."""
_BATCH = 64
"""So many trees are opened at least."""
_BATCH_OF_ALL = 8192
"""So many trees are joined at once when all are wanted."""
MOST_PARTIAL = 1 << 18
"""More partial choices at once are not kept: fewer trees are joined at once, or choices are found one by one."""
_FEW = 1024
"""So many choices are found faster one by one than by joining the trees in smaller batches."""
MOST_CELLS = 1 << 19
"""The same, times the slots of each: 4 MB, of which a step has about three."""
MOST_OPTIONS = 1 << 20
"""So many options of all trees that are joined at once."""
_BLOCK = 1024
"""So many choices that were found one by one are put into a table at once."""
_PARTIAL_PER_CHOICE = 64
"""The same for each choice that is asked for."""


def choices(index: Index, plan: Plan, order: Order, limit: int | None, most: int, budget: Budget) -> Numbers:
    """The choices as a table: one row each, one column per slot. None is there twice.

    Without a limit there are at most `most`, and if there would be more, those that this limit gives. What was found
    until the budget was exceeded is the result; raises BudgetExceeded if that is nothing.
    """
    shuffle = None if order.shuffle_seed is None else np.random.default_rng(order.shuffle_seed)
    visit = _Visit(index, plan, shuffle, budget)
    anchors = visit.anchors()
    if limit is None:
        found = visit.all(anchors, most, in_turns=order.strategy == "breadth-first")
    else:
        found = visit.some(anchors, limit)
    if budget.is_exceeded and not len(found):
        raise BudgetExceeded
    return found if shuffle is None else shuffle.permutation(found)


class _Visit:
    def __init__(self, index: Index, plan: Plan, shuffle: np.random.Generator | None, budget: Budget) -> None:
        self.index = index
        self.plan = plan
        self.shuffle = shuffle
        self.budget = budget
        self.lenders = {row for slot in plan.slots for row in slot.supply.lenders}
        self.most_partial = min(MOST_PARTIAL, MOST_CELLS // len(plan.slots))

    def anchors(self) -> Numbers:
        """The trees to visit. Of those served by the same lenders and nobody of their own, one stands for all."""
        anchors = numbers_of(self.plan.anchors, self.index.size)
        if self.lenders:
            anchors = anchors[self._unlike(anchors)]
        return anchors if self.shuffle is None else self.shuffle.permutation(anchors)

    def _unlike(self, anchors: Numbers) -> Mask:
        supplies = {id(slot.supply): slot.supply for slot in self.plan.slots}.values()
        own = NONE
        for supply in supplies:
            own |= self.index.roots_of(supply.rows)
        keep = mask_of(own, self.index.size)[anchors]
        dependent = anchors[~keep]
        kind = np.zeros(len(dependent), np.int64)
        for supply in supplies:
            for lent_to in supply.lenders.values():
                served = mask_of(lent_to, self.index.size)[dependent]
                _, kind = np.unique(kind * 2 + served, return_inverse=True)
        keep[np.flatnonzero(~keep)[np.unique(kind, return_index=True)[1]]] = True
        return keep

    def all(self, anchors: Numbers, most: int, in_turns: bool) -> Numbers:
        """Trees that have to be searched one choice after the other come last, in case that the budget is exceeded."""
        parts: list[Joined] = []
        hard: list[tuple[int, Numbers]] = []
        count = 0
        batch = min(_BATCH_OF_ALL, self._largest_batch(anchors))
        try:
            for start in range(0, len(anchors), batch):
                for here, part in self._joined(anchors[start : start + batch], None, self.most_partial):
                    if part is None:
                        hard.append((len(parts), here))
                        continue
                    parts.append(part)
                    count += len(part.choices)
                    if count > most:
                        return self.some(anchors, most)
                    self.budget.check()
            for place, here in reversed(hard):
                parts.insert(place, self._one_by_one(here, most + 1))
                count += len(parts[place].choices)
                if count > most:
                    return self.some(anchors, most)
                self.budget.check()
        except BudgetExceeded:
            pass
        if in_turns or not parts:
            return self._once(self._in_turns(parts))
        return self._once(np.concatenate([part.choices for part in parts]))

    def some(self, anchors: Numbers, limit: int) -> Numbers:
        """So many choices if there are as many: the first ones of all trees, then the second ones."""
        best = self._in_turns([])
        try:
            for found in self._growing(anchors, limit):
                if len(found) > len(best):
                    best = found
        except BudgetExceeded:
            pass
        return best[:limit]

    def _growing(self, anchors: Numbers, limit: int) -> Iterator[Numbers]:
        """Yield all choices found so far after each batch, until there are enough or no more. Raises BudgetExceeded."""
        width = max(_WIDTH, -(-limit // len(anchors)))
        most = min(self.most_partial, _PARTIAL_PER_CHOICE * max(limit, _BATCH))
        largest_batch = self._largest_batch(anchors)
        finished: list[Joined] = []
        while True:
            parts: list[Joined] = []
            batches: list[Numbers] = []
            found = self._once(self._in_turns(finished))
            yield found
            start, batch = 0, min(max(limit, _BATCH), largest_batch)
            while start < len(anchors) and len(found) < limit:
                with contextlib.suppress(
                    BudgetExceeded
                ):  # raised again below, after what was found here is given
                    for here, part in self._joined(anchors[start : start + batch], width, most, limit > _FEW):
                        batches.append(here)
                        parts.append(part or self._one_by_one(here, limit if limit <= _FEW else width))
                found = self._once(self._in_turns([*finished, *parts]))
                yield found
                self.budget.check()
                start += batch
                batch = min(2 * batch, largest_batch)
            if len(found) >= limit or not any(part.cut.any() for part in parts):
                return
            # A tree that gave something has more of it; one whose partial choices all failed is a hard one.
            barren = [here[part.cut & ~part.found] for here, part in zip(batches, parts, strict=True)]
            fertile = [here[part.cut & part.found] for here, part in zip(batches, parts, strict=True)]
            finished += [part.finished() for part in parts]
            finished.append(self._one_by_one(np.concatenate(barren), limit))
            anchors = np.concatenate(fertile)
            width *= 8

    def _largest_batch(self, anchors: Numbers) -> int:
        """So many trees that their options, of all supplies, stay within a bound of memory."""
        cells = 0
        for supply in {id(slot.supply): slot.supply for slot in self.plan.slots}.values():
            cells += supply.rows.bit_count() + sum(map(int.bit_count, supply.lenders.values()))
        return max(1, MOST_OPTIONS * len(anchors) // max(cells, 1))

    def _joined(
        self, anchors: Numbers, width: int | None, most: int, split: bool = True
    ) -> Iterator[tuple[Numbers, Joined | None]]:
        """The choices at these trees, in as many parts as it takes for each to fit in memory.

        None for a tree that does not fit alone, or for all trees if they must not be split and do not fit together.
        """
        pending = [anchors]
        while pending:
            here = pending.pop()
            part = self._join(here, width, most)
            if part is not None or not split or len(here) == 1:
                yield here, part
            else:
                half = len(here) // 2
                pending += [here[half:], here[:half]]

    def _join(self, anchors: Numbers, width: int | None, most: int) -> Joined | None:
        if self.lenders or self.shuffle is not None:
            return join_each(self.index, self.plan, anchors, width, most, self.budget, self.shuffle)
        return join_alike(self.index, self.plan, anchors, width, most, self.budget)

    def _one_by_one(self, anchors: Numbers, limit: int) -> Joined:
        """Up to `limit` choices; if there are so many, each tree may have more."""
        options = options_at(self.index, self.plan, anchors, self.budget, self.shuffle)
        combiner = Combiner(self.index, self.plan, self.budget)
        trees = (
            ((tree, choice) for choice in combiner.at(tree, [option.at(tree) for option in options]))
            for tree in range(len(anchors))
        )
        found = _taking_turns(trees)
        table = self._table(islice(self._each_once(found) if self.lenders else found, limit))
        table = table[np.argsort(table[:, 0], kind="stable")]
        nothing = np.zeros(len(anchors), np.int64)
        return Joined(table[:, 1:], table[:, 0], np.full(len(anchors), len(table) == limit), nothing)

    def _table(self, found: Iterator[_Found]) -> Numbers:
        """The tree and the choice of each, as far as the budget goes. Tuples take ten times the memory of the table."""
        blocks = [np.empty((0, 1 + len(self.plan.slots)), np.int64)]
        block: list[tuple[int, ...]] = []
        with contextlib.suppress(BudgetExceeded):  # the next check raises it again
            for tree, choice in found:
                block.append((tree, *choice))
                if len(block) == _BLOCK:
                    blocks.append(np.array(block))
                    block.clear()
        if block:
            blocks.append(np.array(block))
        return np.concatenate(blocks)

    def _in_turns(self, parts: Sequence[Joined]) -> Numbers:
        if not parts:
            return np.empty((0, len(self.plan.slots)), np.int64)
        turns = np.concatenate([part.turn for part in parts])
        turns = turns.astype(np.min_scalar_type(turns.max(initial=0)))  # small numbers are sorted faster
        found: Numbers = np.concatenate([part.choices for part in parts])
        return found[np.argsort(turns, kind="stable")]

    def _once(self, found: Numbers) -> Numbers:
        """Without repetitions. Only what lenders do without anybody else can be found at several trees."""
        if not self.lenders or not len(found):
            return found
        lends = np.zeros(self.index.size, np.bool_)
        lends[list(self.lenders)] = True
        suspects = np.all(lends[found], axis=1)
        keep = ~suspects
        seen: set[Choice] = set()
        for place, choice in zip(np.flatnonzero(suspects).tolist(), found[suspects].tolist(), strict=True):
            self.budget.pause_if_due()
            if tuple(choice) not in seen:
                seen.add(tuple(choice))
                keep[place] = True
        once: Numbers = found[keep]
        return once

    def _each_once(self, found: Iterator[_Found]) -> Iterator[_Found]:
        """The same, on the way."""
        seen: set[Choice] = set()
        for tree, choice in found:
            if self.lenders.issuperset(choice):
                if choice in seen:
                    continue
                seen.add(choice)
            yield tree, choice


def _taking_turns(trees: Iterable[Iterator[_Found]]) -> Iterator[_Found]:
    """One choice of each tree, then a second of each, and so on. A tree is opened when its first turn comes."""
    while True:
        waiting: list[Iterator[_Found]] = []
        for tree in trees:
            found = next(tree, None)
            if found is not None:
                yield found
                waiting.append(tree)
        if not waiting:
            return
        trees = waiting
