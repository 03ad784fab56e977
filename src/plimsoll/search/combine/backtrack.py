# SPDX-License-Identifier: Apache-2.0

"""Backtracking: find the choices of a plan at one tree, one by one, depth first.

A partial choice that breaks a rule is not extended, and a search state known as a dead end is not entered again: eight
groups on seven devices fail after some hundred steps, not after eight to the seventh. Choices are generated lazily.
Some requests still need exponentially many steps; the budget ends them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.combine.rules import BitRule, Rule, Scope, rules_of
from plimsoll.search.combine.tree_options import Bits, Options, TreeBits
from plimsoll.search.index.bitset import Numbers
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

Choice = tuple[int, ...]
"""One row per slot."""

MAX_DEAD_END_CELLS = 1 << 19
"""Bound on the numbers in all stored dead ends: about 5 MB."""
_STATE_OVERHEAD = 16
"""Size of a stored state in addition to one number per provider."""


class DeadEnds:
    """Search states from which no choice was found, of all trees of a search. Cleared when the bound is reached."""

    def __init__(self) -> None:
        self._states: set[Hashable] = set()
        self._cells = 0

    def __bool__(self) -> bool:
        return bool(self._states)

    def __contains__(self, state: Hashable) -> bool:
        return state in self._states

    def add(self, state: Hashable, cells: int) -> None:
        self._cells += cells + _STATE_OVERHEAD
        if self._cells > MAX_DEAD_END_CELLS:
            self._states.clear()
            self._cells = cells + _STATE_OVERHEAD
        self._states.add(state)


class Combiner:
    """The parts of a plan that are the same for all trees; `at` searches one tree."""

    def __init__(self, index: Index, plan: Plan, budget: Budget) -> None:
        self.index = index
        self.plan = plan
        self.budget = budget
        self.dead_ends = DeadEnds()
        self.rules = rules_of(plan)

    def at(self, tree: int, options: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Yield the choices of tree number `tree`, given the options of each slot. Raises BudgetExceeded."""
        bits = TreeBits(self.index, self.plan, self.budget, options)
        return _TreeSearch(tree, bits, self.rules, self.dead_ends).choices()

    def table(
        self, options: Sequence[Options], limit: int, sharing_providers: frozenset[int], round_robin: bool
    ) -> Numbers:
        """Return up to `limit` choices of all trees, sorted by tree: one line per choice, its tree in the first column.

        If the budget is exceeded, the choices found so far are returned; the next check raises BudgetExceeded again.
        """
        trees = (
            ((tree, *choice) for choice in self.at(tree, [option.at(tree) for option in options]))
            for tree in range(len(options[0].count))
        )
        found = _take_round_robin(trees) if round_robin else chain.from_iterable(trees)
        found = islice(_until_exceeded(_without_duplicates(found, sharing_providers)), limit)
        # Numbers are written to the array one by one: a list of tuples would need ten times the memory.
        table = np.fromiter(chain.from_iterable(found), np.int64).reshape(-1, 1 + len(options))
        return table[np.argsort(table[:, 0], kind="stable")]


class _TreeSearch:
    """The search of one tree."""

    def __init__(
        self, tree: int, bits: TreeBits, rules: Iterable[tuple[Rule, Scope]], dead_ends: DeadEnds
    ) -> None:
        self.tree = tree
        self.bits = bits
        self.dead_ends = dead_ends
        self.rules: list[BitRule] = []
        self.rules_at: list[list[BitRule]] = [[] for _ in bits.masks]
        for rule, scope in rules:
            bit_rule = rule.bits(bits, scope)
            self.rules.append(bit_rule)
            for number in scope.slots:
                self.rules_at[bits.depth_of[number]].append(bit_rule)

    def choices(self) -> Iterator[Choice]:
        """Yield all choices of the tree. Raises BudgetExceeded or SearchCancelled."""
        masks, rules_at, row_of = self.bits.masks, self.rules_at, self.bits.row_of
        last = len(masks) - 1
        places = [self.bits.depth_of[number] for number in range(last + 1)]
        chosen: list[Bits] = [0] * (last + 1)
        untried: list[Bits] = [0] * (last + 1)
        found_before = [0] * (last + 1)
        found = 0
        dead_ends, budget, providers = self.dead_ends, self.bits.budget, len(row_of)
        depth = 0
        untried[0] = self._allowed_at(0)
        while True:
            budget.spend()
            mask = untried[depth]
            if mask:
                bit = mask & -mask
                untried[depth] = mask ^ bit
                chosen[depth] = bit
                if depth == last:
                    found += 1
                    yield tuple([row_of[chosen[place]] for place in places])
                    continue
                for rule in rules_at[depth]:
                    rule.take(depth, bit)
                depth += 1
                mask = masks[depth]
                for rule in rules_at[depth]:
                    mask = rule.allowed(depth, mask)
                untried[depth] = mask
                found_before[depth] = found
                if dead_ends and depth < last and self._search_state(depth) in dead_ends:
                    untried[depth] = 0
            else:
                if depth < last and found == found_before[depth]:
                    dead_ends.add(self._search_state(depth), providers)
                depth -= 1
                if depth < 0:
                    return
                bit = chosen[depth]
                for rule in rules_at[depth]:
                    rule.release(depth, bit)

    def _allowed_at(self, depth: int) -> Bits:
        mask = self.bits.masks[depth]
        for rule in self.rules_at[depth]:
            mask = rule.allowed(depth, mask)
        return mask

    def _search_state(self, depth: int) -> Hashable:
        """Return a key of the search at this depth: equal keys have the same continuations."""
        return (self.tree, depth, *[rule.state() for rule in self.rules])


_TreeChoice = tuple[int, ...]
"""The number of a tree, and one of its choices."""


def _take_round_robin(trees: Iterable[Iterator[_TreeChoice]]) -> Iterator[_TreeChoice]:
    """Yield one choice of each tree, then a second of each, and so on. A tree is started at its first choice."""
    while True:
        unfinished: list[Iterator[_TreeChoice]] = []
        for tree in trees:
            found = next(tree, None)
            if found is not None:
                yield found
                unfinished.append(tree)
        if not unfinished:
            return
        trees = unfinished


def _without_duplicates(
    found: Iterator[_TreeChoice], sharing_providers: frozenset[int]
) -> Iterator[_TreeChoice]:
    """Only choices made of sharing providers alone can be found at several trees."""
    yielded: set[Choice] = set()
    for tree, *rows in found:
        choice = tuple(rows)
        if sharing_providers.issuperset(choice):
            if choice in yielded:
                continue
            yielded.add(choice)
        yield tree, *choice


def _until_exceeded(found: Iterator[_TreeChoice]) -> Iterator[_TreeChoice]:
    with contextlib.suppress(BudgetExceeded):
        yield from found
