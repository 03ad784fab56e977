# SPDX-License-Identifier: Apache-2.0

"""The rules between the slots of a plan, in one table: RULES.

Each rule has two forms. `backtrack.py` uses the bit form: one tree, slot after slot, providers as bits of a small
integer. `vectorised.py` uses the column form: many trees at once, one column of rows per slot. Both iterate over
`rules_of(plan)` and contain no rule of their own; `memo.py` builds its keys from the same list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple, Protocol

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.combine.tree_options import Bits, TreeBits
from plimsoll.search.index.bitset import NONE, Mask, Numbers, RowSet, mask_of
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan

Bit = int


class BitRule(Protocol):
    """The bit form of a rule. Backtracking calls `take` for each provider taken, and `release` in reverse order."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        """Return the providers of `mask` that the slot at this depth may take. Exact: none of them breaks the rule."""
        ...

    def take(self, depth: int, bit: Bit) -> None: ...

    def release(self, depth: int, bit: Bit) -> None: ...

    def state(self) -> Hashable:
        """Return a value that determines all later results of `allowed`."""
        ...


@dataclass(slots=True, eq=False)
class PartialChoices:
    """The partial choices of many trees, for the column form of the rules."""

    index: Index
    plan: Plan
    budget: Budget
    chosen: dict[int, Numbers] = field(default_factory=dict)
    """By slot: the chosen row of each partial choice."""
    _rooms: dict[str, Numbers] = field(default_factory=dict)

    def before(self, slots: Sequence[int], new: int) -> list[int]:
        """Return those of the slots that were filled before slot `new`."""
        return [slot for slot in slots if slot != new and slot in self.chosen]

    def are_filled(self, slots: Sequence[int]) -> bool:
        return self.chosen.keys() >= set(slots)

    def room(self, resource_class: str, slot: int) -> Numbers:
        """Return the room of the chosen providers of a slot."""
        if resource_class not in self._rooms:
            column = self.index.class_column(resource_class)
            self._rooms[resource_class] = column.room_by_row(self.index.size)
        return self._rooms[resource_class][self.chosen[slot]]


class Scope(NamedTuple):
    """The part of a plan that a rule applies to: slots, and for some rules a resource class or a set of rows."""

    slots: tuple[int, ...]
    resource_class: str = ""
    rows: RowSet = NONE


class Rule(NamedTuple):
    name: str
    scopes: Callable[[Plan], Iterable[Scope]]
    """Return where the rule applies in a plan; nothing if it does not apply."""
    bits: Callable[[TreeBits, Scope], BitRule]
    columns: Callable[[PartialChoices, Scope, int], Iterable[Mask]]
    """Yield masks of the partial choices that meet the rule, after a slot of the scope was filled."""
    by_place: bool = False
    """Whether the places of the providers in the tree matter, not only the sets of rows and their room."""


def rules_of(plan: Plan) -> list[tuple[Rule, Scope]]:
    """Return the rules that apply to a plan, with the scope of each."""
    return [(rule, scope) for rule in RULES for scope in rule.scopes(plan)]


# Isolation: no two groups with a suffix have the same provider.


def _isolated(plan: Plan) -> Iterator[Scope]:
    if plan.isolated:
        yield Scope(tuple([number for number, slot in enumerate(plan.slots) if slot.one_provider]))


class _ExclusionBits:
    """A provider that is taken excludes others, or itself."""

    def __init__(self, excluded_by: Mapping[Bit, Bits]) -> None:
        self.excluded_by = excluded_by
        self.excluded: list[Bits] = [0]

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask & ~self.excluded[-1]

    def take(self, depth: int, bit: Bit) -> None:
        self.excluded.append(self.excluded[-1] | self.excluded_by[bit])

    def release(self, depth: int, bit: Bit) -> None:
        self.excluded.pop()

    def state(self) -> Hashable:
        return self.excluded[-1]


def _isolation_bits(tree: TreeBits, scope: Scope) -> BitRule:
    return _ExclusionBits({bit: bit for bit in tree.row_of})


def _isolation_columns(partial: PartialChoices, scope: Scope, new: int) -> Iterator[Mask]:
    for earlier in partial.before(scope.slots, new):
        yield partial.chosen[new] != partial.chosen[earlier]


# Capacity: for one resource class, the slots together take no more from a provider than it has room for.


def _contended(plan: Plan) -> Iterator[Scope]:
    for name, numbers in plan.contended().items():
        yield Scope(numbers, name)


class _CapacityBits:
    def __init__(self, tree: TreeBits, scope: Scope) -> None:
        name, options = scope.resource_class, tree.options_of(scope.slots)
        column = tree.index.class_column(name)
        self.amounts = {
            tree.depth_of[number]: tree.plan.slots[number].resources[name] for number in scope.slots
        }
        """Amount by depth."""
        self.left = {bit: column.room(row) for bit, row in tree.row_of.items() if bit & options}
        tree.budget.spend(len(self.left))
        self.full: dict[int, Bits] = dict.fromkeys(self.amounts.values(), 0)
        """By amount: the providers without room for this amount."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask & ~self.full[self.amounts[depth]]

    def take(self, depth: int, bit: Bit) -> None:
        left = self.left[bit] = self.left[bit] - self.amounts[depth]
        for amount in self.full:
            if left < amount:
                self.full[amount] |= bit

    def release(self, depth: int, bit: Bit) -> None:
        left = self.left[bit] = self.left[bit] + self.amounts[depth]
        for amount in self.full:
            if left >= amount:
                self.full[amount] &= ~bit

    def state(self) -> Hashable:
        return tuple(self.left.values())


def _capacity_columns(partial: PartialChoices, scope: Scope, new: int) -> Iterator[Mask]:
    name, slots = scope.resource_class, partial.plan.slots
    earlier = partial.before(scope.slots, new)
    if earlier:
        taken = np.full(len(partial.chosen[new]), slots[new].resources[name])
        for number in earlier:
            taken += (partial.chosen[number] == partial.chosen[new]) * slots[number].resources[name]
            partial.budget.check()
        yield taken <= partial.room(name, new)


# One provider per tree: for microversions before nested providers.


def _one_per_tree(plan: Plan) -> Iterator[Scope]:
    if plan.one_per_tree:
        yield Scope(tuple([number for number, slot in enumerate(plan.slots) if slot.resources]))


def _one_per_tree_bits(tree: TreeBits, scope: Scope) -> BitRule:
    roots = tree.index.root_by_row()
    by_root: dict[int, Bits] = {}
    for bit, row in tree.row_of.items():
        by_root[roots.item(row)] = by_root.get(roots.item(row), 0) | bit
    return _ExclusionBits({bit: by_root[roots.item(row)] ^ bit for bit, row in tree.row_of.items()})


def _one_per_tree_columns(partial: PartialChoices, scope: Scope, new: int) -> Iterator[Mask]:
    roots, rows = partial.index.root_by_row(), partial.chosen[new]
    for number in partial.before(scope.slots, new):
        earlier = partial.chosen[number]
        yield (earlier == rows) | (roots[earlier] != roots[rows])


# Required trait: one of the providers that serve the group without suffix has it.


def _required_traits(plan: Plan) -> Iterator[Scope]:
    numbers = tuple([number for number, slot in enumerate(plan.slots) if not slot.one_provider])
    for rows in plan.required_traits:
        yield Scope(numbers, rows=rows)


class _RequiredTraitBits:
    def __init__(self, tree: TreeBits, scope: Scope) -> None:
        self.having = sum(bit for bit, row in tree.row_of.items() if scope.rows >> row & 1)
        self.later_options = tree.options_after(scope.slots)
        self.taken = 0
        """The number of providers taken that have the trait."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask if self.taken or self.later_options[depth] & self.having else mask & self.having

    def take(self, depth: int, bit: Bit) -> None:
        self.taken += bool(bit & self.having)

    def release(self, depth: int, bit: Bit) -> None:
        self.taken -= bool(bit & self.having)

    def state(self) -> Hashable:
        return self.taken > 0


def _required_trait_columns(partial: PartialChoices, scope: Scope, new: int) -> Iterator[Mask]:
    if partial.are_filled(scope.slots):
        having = mask_of(scope.rows, partial.index.size)
        yield reduce(or_, [having[partial.chosen[number]] for number in scope.slots])


# Same subtree: one of the providers is an ancestor of all the others (or there is only one).


def _subtrees(plan: Plan) -> Iterator[Scope]:
    for suffixes in plan.subtrees:
        numbers = [number for number, slot in enumerate(plan.slots) if slot.suffix in suffixes]
        if len(numbers) > 1:
            yield Scope(tuple(numbers))


class _SameSubtreeBits:
    def __init__(self, tree: TreeBits, scope: Scope) -> None:
        self.ancestors: Mapping[Bit, Bits] = tree.ancestors
        self.later_options = tree.options_after(scope.slots)
        self.members: list[Bits] = [0]
        self.common: list[Bits] = [-1]
        """The common ancestors of the members."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        members, common = self.members[-1], self.common[-1]
        if not members:
            return mask
        tops = members | self.later_options[depth]
        allowed = mask & common
        rest = mask & ~common
        while rest:
            bit = rest & -rest
            rest ^= bit
            if self.ancestors[bit] & common & tops:
                allowed |= bit
        return allowed

    def take(self, depth: int, bit: Bit) -> None:
        self.members.append(self.members[-1] | bit)
        self.common.append(self.common[-1] & self.ancestors[bit])

    def release(self, depth: int, bit: Bit) -> None:
        self.members.pop()
        self.common.pop()

    def state(self) -> Hashable:
        return self.members[-1]


def _same_subtree_columns(partial: PartialChoices, scope: Scope, new: int) -> Iterator[Mask]:
    if not partial.are_filled(scope.slots):
        return
    parents = partial.index.parent_by_row()
    members = [partial.chosen[number] for number in scope.slots]
    tops = [np.ones(len(members[0]), np.bool_) for _ in members]
    """For each member: whether it is an ancestor of all members examined so far."""
    for member in members:
        above = [np.zeros(len(member), np.bool_) for _ in members]
        ancestor = member
        while (ancestor >= 0).any():
            for is_ancestor, other in zip(above, members, strict=True):
                np.logical_or(is_ancestor, ancestor == other, out=is_ancestor)
                partial.budget.check()
            ancestor = np.where(ancestor >= 0, parents[ancestor], np.int64(-1))
        tops = [top & is_ancestor for top, is_ancestor in zip(tops, above, strict=True)]
    yield reduce(or_, tops)


RULES = (
    Rule("group_policy=isolate", _isolated, _isolation_bits, _isolation_columns),
    Rule("capacity", _contended, _CapacityBits, _capacity_columns),
    Rule("one provider per tree", _one_per_tree, _one_per_tree_bits, _one_per_tree_columns),
    Rule("required traits", _required_traits, _RequiredTraitBits, _required_trait_columns),
    Rule("same_subtree", _subtrees, _SameSubtreeBits, _same_subtree_columns, by_place=True),
)
