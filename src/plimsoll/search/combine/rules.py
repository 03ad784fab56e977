# SPDX-License-Identifier: Apache-2.0

"""The rules between the slots of a plan, for backtracking within one tree.

The backtracking calls `allowed` for the providers that a slot may still take, `take` for each provider taken, and
`release` in reverse order. `allowed` is exact: a provider that it returns breaks no rule. Providers are bits of small
integers; each tree numbers its own providers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Protocol

Bit = int
Bits = int


def bits_of(mask: Bits) -> Iterator[Bit]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit


class Rule(Protocol):
    def allowed(self, depth: int, mask: Bits) -> Bits:
        """Return the providers of `mask` that the slot at this depth may take."""
        ...

    def take(self, depth: int, bit: Bit) -> None: ...

    def release(self, depth: int, bit: Bit) -> None: ...

    def state(self) -> Hashable:
        """Return a value that determines all later results of `allowed`."""
        ...


class Isolation:
    """No two groups with a suffix have the same provider."""

    def __init__(self) -> None:
        self.taken: Bits = 0

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask & ~self.taken

    def take(self, depth: int, bit: Bit) -> None:
        self.taken |= bit

    def release(self, depth: int, bit: Bit) -> None:
        self.taken ^= bit

    def state(self) -> Hashable:
        return self.taken


class Capacity:
    """For one resource class, the slots together take no more from a provider than it has room for."""

    def __init__(self, amounts: Mapping[int, int], room: Mapping[Bit, int]) -> None:
        self.amounts = amounts
        """Amount by depth."""
        self.left = dict(room)
        self.full: dict[int, Bits] = dict.fromkeys(amounts.values(), 0)
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


class SameSubtree:
    """same_subtree: one of the providers taken is an ancestor of all the others (or there is only one)."""

    def __init__(self, ancestors: Mapping[Bit, Bits], later_options: Mapping[int, Bits]) -> None:
        self.ancestors = ancestors
        """Each provider with its ancestors, as far as they are options."""
        self.later_options = later_options
        """By depth: the options of the slots that are filled later."""
        self.members: list[Bits] = [0]
        self.common: list[Bits] = [-1]
        """The common ancestors of the members."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        members, common = self.members[-1], self.common[-1]
        if not members:
            return mask
        tops = members | self.later_options[depth]
        allowed = mask & common
        for bit in bits_of(mask & ~common):
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


class RequiredTraits:
    """Each required trait is on at least one of the providers that serve the group without suffix."""

    def __init__(self, required: Sequence[Bits], later_options: Mapping[int, Bits]) -> None:
        self.required = required
        """For each required trait, the providers that have it."""
        self.later_options = later_options
        self.taken: list[Bits] = [0]

    def allowed(self, depth: int, mask: Bits) -> Bits:
        reachable = self.taken[-1] | self.later_options[depth]
        for trait_rows in self.required:
            if not trait_rows & reachable:
                mask &= trait_rows
        return mask

    def take(self, depth: int, bit: Bit) -> None:
        self.taken.append(self.taken[-1] | bit)

    def release(self, depth: int, bit: Bit) -> None:
        self.taken.pop()

    def state(self) -> Hashable:
        return self.taken[-1]


class OnePerTree:
    """No two providers of one tree, for microversions before nested providers."""

    def __init__(self, same_tree: Mapping[Bit, Bits]) -> None:
        self.same_tree = same_tree
        """For each provider, the others of its tree."""
        self.excluded: list[Bits] = [0]

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask & ~self.excluded[-1]

    def take(self, depth: int, bit: Bit) -> None:
        self.excluded.append(self.excluded[-1] | self.same_tree[bit])

    def release(self, depth: int, bit: Bit) -> None:
        self.excluded.pop()

    def state(self) -> Hashable:
        return self.excluded[-1]
