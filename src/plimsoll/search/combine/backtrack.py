# SPDX-License-Identifier: Apache-2.0

"""All ways to fill the slots of a plan at one tree, found one by one, depth first.

A partial choice that breaks a rule is never extended, and a position that was found to lead nowhere is not
entered again: eight groups on seven devices fail after some hundred steps, not after eight to the seventh.
Nothing is computed ahead of what the caller takes. There are still requests that take exponentially many steps: the
search ends when its budget is used up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from plimsoll.search.budget import Budget
from plimsoll.search.combine.rules import (
    Bits,
    Capacity,
    Isolation,
    OneOfTree,
    Rule,
    Subtree,
    Together,
)
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

Choice = tuple[int, ...]
"""One row per slot."""

MAX_POSITION_CELLS = 1 << 19
"""Numbers in all positions that are kept as hopeless: about 5 MB."""
_CELLS_BESIDES = 16
"""The size of a position in addition to one number for each provider."""


class Positions:
    """Positions that lead nowhere, of all trees of a search. When memory is used up, all are dropped."""

    def __init__(self) -> None:
        self._known: set[Hashable] = set()
        self._cells = 0

    def __bool__(self) -> bool:
        return bool(self._known)

    def __contains__(self, position: Hashable) -> bool:
        return position in self._known

    def add(self, position: Hashable, cells: int) -> None:
        self._cells += cells + _CELLS_BESIDES
        if self._cells > MAX_POSITION_CELLS:
            self._known.clear()
            self._cells = cells + _CELLS_BESIDES
        self._known.add(position)


class Combiner:
    """Knows what a plan asks of choices; `at` applies it to the options of one tree, given per slot."""

    def __init__(self, index: Index, plan: Plan, budget: Budget) -> None:
        self.index = index
        self.plan = plan
        self.budget = budget
        self.hopeless = Positions()
        self.contended = plan.contended()
        self.suffixed = [number for number, slot in enumerate(plan.slots) if slot.one_provider]
        self.unsuffixed = plan.numbers("")
        self.with_resources = [number for number, slot in enumerate(plan.slots) if slot.resources]
        self.subtrees = plan.subtree_numbers()

    def at(self, tree: int, options: Sequence[Sequence[int]]) -> Iterator[Choice]:
        """The choices at one tree, which has this number. Raises BudgetExceeded between two of them."""
        return _Tree(self, tree, options).choices()


class _Tree:
    """One tree's options as bits, in the order in which slots are filled: few options first, to fail early."""

    def __init__(self, combiner: Combiner, tree: int, options: Sequence[Sequence[int]]) -> None:
        self.tree = tree
        self.budget = combiner.budget
        self.hopeless = combiner.hopeless
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
        self._lay_down(combiner)

    def _lay_down(self, combiner: Combiner) -> None:
        plan = combiner.plan
        if plan.isolated:
            self._rule(Isolation(), combiner.suffixed)
        for name, numbers in combiner.contended.items():
            amounts = {self.depth_of[number]: plan.slots[number].resources[name] for number in numbers}
            stock = combiner.index.stock(name)
            concerned = self._reach(numbers)
            room = {bit: stock.room(row) for bit, row in self.row_of.items() if bit & concerned}
            self.budget.spend(len(room))
            self._rule(Capacity(amounts, room), numbers)
        if combiner.subtrees:
            lineage = _lineage(combiner.index, self.row_of, self.budget)
            for numbers in combiner.subtrees:
                self._rule(Subtree(lineage, self._ahead(numbers)), numbers)
        if plan.together:
            required = [
                sum(bit for bit, row in self.row_of.items() if having >> row & 1) for having in plan.together
            ]
            self._rule(Together(required, self._ahead(combiner.unsuffixed)), combiner.unsuffixed)
        if plan.one_of_tree:
            self._rule(OneOfTree(_relatives(combiner.index, self.row_of)), combiner.with_resources)

    def _rule(self, rule: Rule, numbers: Sequence[int]) -> None:
        self.rules.append(rule)
        for number in numbers:
            self.rules_at[self.depth_of[number]].append(rule)

    def _reach(self, numbers: Sequence[int]) -> Bits:
        """Everybody whom one of these slots may choose."""
        reach = 0
        for number in numbers:
            reach |= self.masks[self.depth_of[number]]
        return reach

    def _ahead(self, numbers: Sequence[int]) -> dict[int, Bits]:
        """At each of these slots, everybody whom those filled later may choose."""
        ahead: dict[int, Bits] = {}
        reach = 0
        for depth in sorted((self.depth_of[number] for number in numbers), reverse=True):
            ahead[depth] = reach
            reach |= self.masks[depth]
        return ahead

    def choices(self) -> Iterator[Choice]:
        masks, rules_at, row_of = self.masks, self.rules_at, self.row_of
        last = len(masks) - 1
        places = [self.depth_of[number] for number in range(last + 1)]
        chosen: list[Bits] = [0] * (last + 1)
        untried: list[Bits] = [0] * (last + 1)
        found_before = [0] * (last + 1)
        found = 0
        hopeless, budget, providers = self.hopeless, self.budget, len(row_of)
        depth = 0
        untried[0] = self._open(0)
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
                if hopeless and depth < last and self._position(depth) in hopeless:
                    untried[depth] = 0
            else:
                if depth < last and found == found_before[depth]:
                    hopeless.add(self._position(depth), providers)
                depth -= 1
                if depth < 0:
                    return
                bit = chosen[depth]
                for rule in rules_at[depth]:
                    rule.release(depth, bit)

    def _open(self, depth: int) -> Bits:
        mask = self.masks[depth]
        for rule in self.rules_at[depth]:
            mask = rule.allowed(depth, mask)
        return mask

    def _position(self, depth: int) -> Hashable:
        return (self.tree, depth, *[rule.state() for rule in self.rules])


def _lineage(index: Index, row_of: dict[Bits, int], budget: Budget) -> dict[Bits, Bits]:
    """Each provider with those above it, as far as they are options here."""
    parents = index.parent_by_row()
    bit_of = {row: bit for bit, row in row_of.items()}
    lineage: dict[Bits, Bits] = {}
    for bit, row in row_of.items():
        line = 0
        while row >= 0:
            line |= bit_of.get(row, 0)
            row = parents.item(row)
            budget.spend()
        lineage[bit] = line
    return lineage


def _relatives(index: Index, row_of: dict[Bits, int]) -> dict[Bits, Bits]:
    """For each provider the others of its tree, as far as they are options here."""
    roots = index.root_by_row()
    trees: dict[int, Bits] = {}
    for bit, row in row_of.items():
        trees[roots.item(row)] = trees.get(roots.item(row), 0) | bit
    return {bit: trees[roots.item(row)] ^ bit for bit, row in row_of.items()}
