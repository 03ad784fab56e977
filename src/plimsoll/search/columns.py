# SPDX-License-Identifier: Apache-2.0

"""What all providers have of one resource class, in columns that are cut into blocks of rows.

Nothing here ever changes in place. A claim replaces the `free` column of one block and shares all others, so
that its cost does not depend on how many providers there are. A block in which few providers have the class
keeps only those, so that memory follows the number of inventories, not of classes times providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.search.rows import NONE, Mask, Numbers, Rows, rows_of

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
"""Rows in a block: copying one column of a block takes two microseconds."""
SPARSE = BLOCK // 8
"""A block in which fewer rows than this have the class keeps only those rows."""

ABSENT = -1
"""The capacity of a provider that does not have the class at all."""
_LIMIT = 1 << 62
"""Larger capacities (a ratio may be 1e38) are cut to what a column can hold; no request comes near."""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """How the providers of one block may be asked: what changes only when an inventory is written."""

    where: Numbers | None
    """The rows (counted in the block, ascending) that the columns speak of; None: all of them."""
    capacity: Numbers
    min_unit: Numbers
    max_unit: Numbers
    step_size: Numbers
    # Bounds over the whole block, perhaps wider than need be. Where they let an amount pass, no row has to
    # be looked at.
    highest_min_unit: int
    lowest_max_unit: int
    step_sizes: frozenset[int]

    def place(self, row: int) -> int:
        """Where in the columns this row is, which must have the class."""
        offset = row & (BLOCK - 1)
        return offset if self.where is None else int(np.searchsorted(self.where, offset))

    def places(self, offsets: Numbers) -> Numbers:
        return offsets if self.where is None else np.searchsorted(self.where, offsets)

    def cut_everywhere(self, amount: int) -> bool:
        return self.highest_min_unit <= amount <= self.lowest_max_unit and all(
            amount % step == 0 for step in self.step_sizes
        )

    def cutting(self, amount: int) -> Mask:
        mask = (self.min_unit <= amount) & (self.max_unit >= amount)
        if self.step_sizes != {1} and mask.any():
            mask &= amount % self.step_size == 0
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One resource class of up to BLOCK providers."""

    terms: Terms
    free: Numbers
    """Capacity less what is used; below zero where a provider is over-full, and where the class is absent."""

    def write(self, mask: Mask, answers: Mask) -> None:
        """Puts one answer per column entry into the block's part of a mask over all rows."""
        if self.terms.where is None:
            mask[:] = answers
        else:
            mask[self.terms.where] = answers

    def used(self, entries: Mapping[int, int]) -> Block:
        free = self.free.copy()
        for row, used in entries.items():
            place = self.terms.place(row)
            free[place] = self.terms.capacity[place] - used
        return Block(self.terms, free)


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """One resource class of all providers. A block in which nobody has the class is None."""

    blocks: tuple[Block | None, ...] = ()
    rows: Rows = NONE
    """Who has an inventory of the class."""

    def cutting(self, amount: int, size: int) -> Mask | None:
        """Whose units allow one piece of this size; None says: everybody's."""
        if all(block is None or block.terms.cut_everywhere(amount) for block in self.blocks):
            return None
        mask = np.zeros(_padded(size), np.bool_)
        for number, block in enumerate(self.blocks):
            if block is not None:
                block.write(mask[number * BLOCK : (number + 1) * BLOCK], block.terms.cutting(amount))
        return mask[:size]

    def holding(self, amount: int, size: int) -> Mask:
        """Who has this much left."""
        mask = np.zeros(_padded(size), np.bool_)
        for number, block in enumerate(self.blocks):
            if block is not None:
                block.write(mask[number * BLOCK : (number + 1) * BLOCK], block.free >= amount)
        return mask[:size]

    def room(self, row: int) -> int:
        """How much one consumer may still take in all: neither more than is free nor than max_unit."""
        block = self.blocks[row >> BLOCK_BITS]
        assert block is not None, "only asked where the class is known to be there"
        place = block.terms.place(row)
        return min(block.free.item(place), block.terms.max_unit.item(place))

    def rooms(self, numbers: Numbers) -> Numbers:
        """`room` of many rows at once, all of which have the class."""
        rooms = np.zeros(len(numbers), np.int64)
        in_block = numbers >> BLOCK_BITS
        for number, block in enumerate(self.blocks):
            here = in_block == number
            if block is not None and here.any():
                places = block.terms.places(numbers[here] & (BLOCK - 1))
                rooms[here] = np.minimum(block.free[places], block.terms.max_unit[places])
        return rooms

    def used(self, entries: Mapping[int, int]) -> Stock:
        """With other usages at some rows that have the class: the work of a claim."""
        blocks = list(self.blocks)
        for number, rows in _by_block(entries).items():
            block = blocks[number]
            assert block is not None, "usage of a class that the provider does not have"
            blocks[number] = block.used({row: entries[row] for row in rows})
        return Stock(tuple(blocks), self.rows)

    def replaced(self, entries: Mapping[int, tuple[Inventory, int] | None]) -> Stock:
        """With other inventories and usages at some rows; None where the class is gone."""
        blocks = list(self.blocks)
        for number, rows in _by_block(entries).items():
            blocks.extend([None] * (number + 1 - len(blocks)))
            blocks[number] = _rewritten(blocks[number], {row & (BLOCK - 1): entries[row] for row in rows})
        gone = rows_of([row for row, entry in entries.items() if entry is None])
        here = rows_of([row for row, entry in entries.items() if entry is not None])
        return Stock(tuple(blocks), (self.rows & ~gone) | here)


@dataclass(slots=True, eq=False)
class Column:
    """One number per row, never changed in place; the whole is put together when first asked for."""

    blocks: tuple[Numbers, ...] = ()
    _whole: Numbers | None = field(default=None, repr=False)

    def whole(self) -> Numbers:
        if self._whole is None:
            # Two threads may both do this; they get the same.
            self._whole = np.concatenate(self.blocks) if self.blocks else np.zeros(0, np.int64)
        return self._whole

    def replaced(self, values: Mapping[int, int]) -> Column:
        blocks = list(self.blocks)
        for number, rows in _by_block(values).items():
            while len(blocks) <= number:
                blocks.append(np.zeros(BLOCK, np.int64))
            changed = blocks[number].copy()
            for row in rows:
                changed[row & (BLOCK - 1)] = values[row]
            blocks[number] = changed
        return Column(tuple(blocks))


_NOTHING = np.array([[ABSENT], [0], [MAX_INT], [1], [-_LIMIT]], np.int64)
"""The columns of a row without the class: capacity, min_unit, max_unit, step_size, free."""


def _rewritten(block: Block | None, entries: Mapping[int, tuple[Inventory, int] | None]) -> Block | None:
    columns = np.empty((5, BLOCK), np.int64)
    columns[:] = _NOTHING
    highest_min_unit, lowest_max_unit, step_sizes = 0, MAX_INT, {1}
    if block is not None:
        old = block.terms
        where = slice(None) if old.where is None else old.where
        columns[:, where] = (old.capacity, old.min_unit, old.max_unit, old.step_size, block.free)
        highest_min_unit, lowest_max_unit = old.highest_min_unit, old.lowest_max_unit
        step_sizes = set(old.step_sizes)
    for offset, entry in entries.items():
        if entry is None:
            columns[:, offset] = _NOTHING[:, 0]
            continue
        new, used = entry
        # Below zero nothing fits either, and -1 would look like a class that is not there.
        capacity = min(max(new.capacity, 0), _LIMIT)
        columns[:, offset] = (capacity, new.min_unit, new.max_unit, new.step_size, capacity - used)
        highest_min_unit = max(highest_min_unit, new.min_unit)
        lowest_max_unit = min(lowest_max_unit, new.max_unit)
        step_sizes.add(new.step_size)
    present = np.flatnonzero(columns[0] != ABSENT)
    if not len(present):
        return None
    sparse = len(present) < SPARSE
    capacities, min_units, max_units, steps, free = columns[:, present] if sparse else columns
    terms = Terms(
        present if sparse else None,
        capacities,
        min_units,
        max_units,
        steps,
        highest_min_unit,
        lowest_max_unit,
        frozenset(step_sizes),
    )
    return Block(terms, free)


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _by_block(rows: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row >> BLOCK_BITS, []).append(row)
    return found
