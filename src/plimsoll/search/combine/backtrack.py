# SPDX-License-Identifier: Apache-2.0

"""Backtracking: find the choices of a plan at one tree, one by one, depth first.

A partial choice that breaks a rule is not extended, and a search state known as a dead end is not entered again: eight
groups on seven devices fail after some hundred steps, not after eight to the seventh. Choices are generated lazily.
Some requests still need exponentially many steps; the budget ends them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from plimsoll.search.budget import Budget
from plimsoll.search.combine.rules import (
    Bits,
    Capacity,
    Isolation,
    OnePerTree,
    RequiredTraits,
    Rule,
    SameSubtree,
)
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
        self.contended = plan.contended()
        self.suffixed = [number for number, slot in enumerate(plan.slots) if slot.one_provider]
        self.unsuffixed = plan.slots_of_group("")
        self.with_resources = [number for number, slot in enumerate(plan.slots) if slot.resources]
        self.subtrees = plan.subtree_numbers()

    def at(self, tree: int, options: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """Yield the choices of tree number `tree`, given the options of each slot. Raises BudgetExceeded."""
        return _TreeSearch(self, tree, options).choices()


class _TreeSearch:
    """The search of one tree. Options are bits; slots with few options are filled first, to fail early."""

    def __init__(self, combiner: Combiner, tree: int, options: Sequence[Sequence[int]]) -> None:
        self.tree = tree
        self.budget = combiner.budget
        self.dead_ends = combiner.dead_ends
        order = sorted(range(len(options)), key=lambda number: len(options[number]))
        self.depth_of = {number: depth for depth, number in enumerate(order)}
        self.row_of: dict[Bits, int] = {}
        bit_of: dict[int, Bits] = {}
        self.masks: list[Bits] = []
        for number in order:
            mask = 0
            for row in options[number]:
                bit = bit_of.get(row)
                if bit is None:
                    bit = bit_of[row] = 1 << len(bit_of)
                    self.row_of[bit] = row
                mask |= bit
            self.masks.append(mask)
            self.budget.spend(len(options[number]) >> 3)
        self.rules: list[Rule] = []
        self.rules_at: list[list[Rule]] = [[] for _ in order]
        self._add_rules(combiner)

    def _add_rules(self, combiner: Combiner) -> None:
        plan = combiner.plan
        if plan.isolated:
            self._add_rule(Isolation(), combiner.suffixed)
        for name, numbers in combiner.contended.items():
            amounts = {self.depth_of[number]: plan.slots[number].resources[name] for number in numbers}
            class_column = combiner.index.class_column(name)
            relevant_bits = self._options_of(numbers)
            room = {bit: class_column.room(row) for bit, row in self.row_of.items() if bit & relevant_bits}
            self.budget.spend(len(room))
            self._add_rule(Capacity(amounts, room), numbers)
        if combiner.subtrees:
            ancestors = _ancestors(combiner.index, self.row_of, self.budget)
            for numbers in combiner.subtrees:
                self._add_rule(SameSubtree(ancestors, self._options_after(numbers)), numbers)
        if plan.required_traits:
            required = [
                sum(bit for bit, row in self.row_of.items() if trait_rows >> row & 1)
                for trait_rows in plan.required_traits
            ]
            self._add_rule(
                RequiredTraits(required, self._options_after(combiner.unsuffixed)), combiner.unsuffixed
            )
        if plan.one_per_tree:
            self._add_rule(OnePerTree(_same_tree_bits(combiner.index, self.row_of)), combiner.with_resources)

    def _add_rule(self, rule: Rule, numbers: Sequence[int]) -> None:
        self.rules.append(rule)
        for number in numbers:
            self.rules_at[self.depth_of[number]].append(rule)

    def _options_of(self, numbers: Sequence[int]) -> Bits:
        """Return all providers that are an option of one of these slots."""
        bits = 0
        for number in numbers:
            bits |= self.masks[self.depth_of[number]]
        return bits

    def _options_after(self, numbers: Sequence[int]) -> dict[int, Bits]:
        """Return, for the depth of each of these slots, the options of these slots that are filled later."""
        later_options: dict[int, Bits] = {}
        bits = 0
        for depth in sorted((self.depth_of[number] for number in numbers), reverse=True):
            later_options[depth] = bits
            bits |= self.masks[depth]
        return later_options

    def choices(self) -> Iterator[Choice]:
        """Yield all choices of the tree. Raises BudgetExceeded or SearchCancelled."""
        masks, rules_at, row_of = self.masks, self.rules_at, self.row_of
        last = len(masks) - 1
        places = [self.depth_of[number] for number in range(last + 1)]
        chosen: list[Bits] = [0] * (last + 1)
        untried: list[Bits] = [0] * (last + 1)
        found_before = [0] * (last + 1)
        found = 0
        dead_ends, budget, providers = self.dead_ends, self.budget, len(row_of)
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
        mask = self.masks[depth]
        for rule in self.rules_at[depth]:
            mask = rule.allowed(depth, mask)
        return mask

    def _search_state(self, depth: int) -> Hashable:
        """Return a key of the search at this depth: equal keys have the same continuations."""
        return (self.tree, depth, *[rule.state() for rule in self.rules])


def _ancestors(index: Index, row_of: dict[Bits, int], budget: Budget) -> dict[Bits, Bits]:
    """Return each provider with its ancestors, as far as they are options here."""
    parents = index.parent_by_row()
    bit_of = {row: bit for bit, row in row_of.items()}
    ancestors: dict[Bits, Bits] = {}
    for bit, row in row_of.items():
        ancestor_bits = 0
        while row >= 0:
            ancestor_bits |= bit_of.get(row, 0)
            row = parents.item(row)
            budget.spend()
        ancestors[bit] = ancestor_bits
    return ancestors


def _same_tree_bits(index: Index, row_of: dict[Bits, int]) -> dict[Bits, Bits]:
    """Return, for each provider, the other providers of its tree, as far as they are options here."""
    roots = index.root_by_row()
    trees: dict[int, Bits] = {}
    for bit, row in row_of.items():
        trees[roots.item(row)] = trees.get(roots.item(row), 0) | bit
    return {bit: trees[roots.item(row)] ^ bit for bit, row in row_of.items()}
