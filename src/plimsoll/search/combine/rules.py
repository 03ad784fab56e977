# SPDX-License-Identifier: Apache-2.0

"""What the choices for several slots must keep among each other, within one tree.

The combination asks each rule which providers a slot may still take (`allowed` is exact: nothing it lets
through has to be taken back), and tells it what was taken and, in reverse order, released. Providers are bits
of small integers: a tree numbers its own.
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
    def allowed(self, depth: int, mask: Bits) -> Bits: ...

    def take(self, depth: int, bit: Bit) -> None: ...

    def release(self, depth: int, bit: Bit) -> None: ...

    def state(self) -> Hashable:
        """All that decides what is allowed from here on."""
        ...


class Isolation:
    """Each group with a suffix has a provider to itself."""

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
    """Of one resource class, several slots together take no more from a provider than there is room for."""

    def __init__(self, amounts: Mapping[int, int], room: Mapping[Bit, int]) -> None:
        self.amounts = amounts
        """By depth."""
        self.left = dict(room)
        self.full: dict[int, Bits] = dict.fromkeys(amounts.values(), 0)
        """Who cannot take one more piece of this size."""

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


class Subtree:
    """One of the providers that the groups take is the ancestor of all the others (or there is only one)."""

    def __init__(self, lineage: Mapping[Bit, Bits], ahead: Mapping[int, Bits]) -> None:
        self.lineage = lineage
        """A provider and those above it, as far as they are a choice at all."""
        self.ahead = ahead
        """By depth: who may still be chosen by the groups that come later."""
        self.members: list[Bits] = [0]
        self.common: list[Bits] = [-1]
        """The common ancestors of the members."""

    def allowed(self, depth: int, mask: Bits) -> Bits:
        members, common = self.members[-1], self.common[-1]
        if not members:
            return mask
        tops = members | self.ahead[depth]
        allowed = mask & common
        for bit in bits_of(mask & ~common):
            if self.lineage[bit] & common & tops:
                allowed |= bit
        return allowed

    def take(self, depth: int, bit: Bit) -> None:
        self.members.append(self.members[-1] | bit)
        self.common.append(self.common[-1] & self.lineage[bit])

    def release(self, depth: int, bit: Bit) -> None:
        self.members.pop()
        self.common.pop()

    def state(self) -> Hashable:
        return self.members[-1]


class Together:
    """The providers that serve the group without suffix have each required trait among them."""

    def __init__(self, required: Sequence[Bits], ahead: Mapping[int, Bits]) -> None:
        self.required = required
        """Who has it, for each requirement."""
        self.ahead = ahead
        self.taken: list[Bits] = [0]

    def allowed(self, depth: int, mask: Bits) -> Bits:
        hopeful = self.taken[-1] | self.ahead[depth]
        for having in self.required:
            if not having & hopeful:
                mask &= having
        return mask

    def take(self, depth: int, bit: Bit) -> None:
        self.taken.append(self.taken[-1] | bit)

    def release(self, depth: int, bit: Bit) -> None:
        self.taken.pop()

    def state(self) -> Hashable:
        return self.taken[-1]


class OneOfTree:
    """No two providers of one tree, for clients that do not know of trees."""

    def __init__(self, relatives: Mapping[Bit, Bits]) -> None:
        self.relatives = relatives
        """The others of the same tree."""
        self.barred: list[Bits] = [0]

    def allowed(self, depth: int, mask: Bits) -> Bits:
        return mask & ~self.barred[-1]

    def take(self, depth: int, bit: Bit) -> None:
        self.barred.append(self.barred[-1] | self.relatives[bit])

    def release(self, depth: int, bit: Bit) -> None:
        self.barred.pop()

    def state(self) -> Hashable:
        return self.barred[-1]
