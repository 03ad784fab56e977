# SPDX-License-Identifier: Apache-2.0

"""Columns of one resource class, split into blocks of rows.

All objects are immutable. A claim replaces the `free` column of some blocks and shares all others, so its cost does not
depend on the number of providers. A block in which few providers have the class stores only their rows, so memory grows
with the number of inventories, not with classes times providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.search.index.bitset import Mask, Numbers

_T = TypeVar("_T", bound=np.generic)

BLOCK_BITS = 12
BLOCK = 1 << BLOCK_BITS
"""Rows in a block: copying one column of a block takes two microseconds."""
SPARSE = BLOCK // 8
"""A block in which fewer rows than this have the class stores only these rows."""

ABSENT = -1
"""The capacity of a provider without an inventory of the class."""
MAX_CAPACITY = 1 << 62
"""Larger capacities (a ratio may be 1e38) are stored as this value, far above every amount that a request may have."""


@dataclass(frozen=True, slots=True, eq=False)
class InventoryColumns:
    """The inventories of one block: the columns that change only when an inventory is written."""

    where: Numbers | None
    """The rows (numbered within the block, ascending) that have column entries; None: all rows."""
    capacity: Numbers
    min_unit: Numbers
    max_unit: Numbers
    step_size: Numbers
    # Conservative bounds over the whole block. If they allow an amount, all rows do, and no row is checked.
    highest_min_unit: int
    lowest_max_unit: int
    step_sizes: frozenset[int]

    def place(self, row: int) -> int:
        """Return the position of this row in the columns. The row must have the class."""
        offset = row & (BLOCK - 1)
        return offset if self.where is None else int(self.where.searchsorted(offset))

    def places(self, rows: Numbers) -> Numbers:
        offsets = rows & (BLOCK - 1)
        return offsets if self.where is None else self.where.searchsorted(offsets)

    def all_rows_allow(self, amount: int) -> bool:
        """Return whether the bounds show that all rows allow this amount."""
        return self.highest_min_unit <= amount <= self.lowest_max_unit and all(
            amount % step == 0 for step in self.step_sizes
        )

    def allows(self, amount: int) -> Mask:
        """Return, by row, whether min_unit, max_unit and step_size allow this amount."""
        mask = (self.min_unit <= amount) & (self.max_unit >= amount)
        if self.step_sizes != {1} and mask.any():
            mask &= amount % self.step_size == 0
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One resource class of up to BLOCK providers."""

    inventory: InventoryColumns
    free: Numbers
    """Capacity minus usage; negative for an over-allocated provider and where the class is absent."""

    def write(self, target: NDArray[_T], values: NDArray[_T]) -> None:
        """Write one value per column entry into `target`, the block's part of an array over all rows."""
        if self.inventory.where is None:
            target[:] = values
        else:
            target[self.inventory.where] = values

    def read(self, source: NDArray[_T], values: NDArray[_T]) -> None:
        """Read into `values` what `write` has written: `source` is the block's part of an array over all rows.

        The part of the last block may be shorter than the block: values of the rows beyond are left as they are.
        """
        if self.inventory.where is None:
            values[: len(source)] = source
        else:
            values[:] = source[self.inventory.where]

    def with_used(self, rows: Numbers, used: Numbers) -> Block:
        """Return a block with this usage at these rows, which must have the class."""
        places, free = self.inventory.places(rows), self.free.copy()
        free[places] = self.inventory.capacity[places] - used
        return replace(self, free=free)

    def largest_allowed(self, at_most: int, taken: int) -> Numbers:
        """Return, by row, the largest amount up to `at_most` that units and room allow besides `taken`, or 0."""
        units = self.inventory
        room = np.minimum(np.minimum(self.free, units.max_unit) - taken, at_most)
        amounts = room - room % units.step_size
        return np.where((amounts >= units.min_unit) & (amounts > 0), amounts, 0)

    def smallest_allowed(self, at_least: int, taken: int) -> Numbers:
        """Return, by row, the smallest amount from `at_least` on that units and room allow besides `taken`, or 0."""
        units = self.inventory
        wanted = np.maximum(units.min_unit, at_least)
        amounts = wanted + -wanted % units.step_size
        return np.where(amounts + taken <= np.minimum(self.free, units.max_unit), amounts, 0)

    def emptied(self) -> Block:
        """Return a block without usage. Its free amounts are the capacities: no copy; ABSENT is negative too."""
        return Block(self.inventory, self.inventory.capacity)


@dataclass(slots=True, eq=False)
class Column:
    """One number per row, immutable; `whole` concatenates the blocks on first use."""

    blocks: tuple[Numbers, ...] = ()
    _whole: Numbers | None = field(default=None, repr=False)

    def whole(self) -> Numbers:
        whole = self._whole
        if whole is None:
            # Two threads may both do this, with the same result. The new blocks are views: the data exists once.
            whole = self._whole = np.concatenate(self.blocks) if self.blocks else np.zeros(0, np.int64)
            self.blocks = tuple(np.split(whole, max(1, len(self.blocks))))
        return whole

    def replaced(self, values: Mapping[int, int]) -> Column:
        blocks = list(self.blocks)
        for number, rows in group_by_block(values).items():
            while len(blocks) <= number:
                blocks.append(np.zeros(BLOCK, np.int64))
            changed = blocks[number].copy()
            for row in rows:
                changed[row & (BLOCK - 1)] = values[row]
            blocks[number] = changed
        return Column(tuple(blocks))


_ABSENT_ROW = np.array([[ABSENT], [0], [MAX_INT], [1], [-MAX_CAPACITY]], np.int64)
"""The column values of a row without the class: capacity, min_unit, max_unit, step_size, free."""


def rewrite_block(block: Block | None, entries: Mapping[int, tuple[Inventory, int] | None]) -> Block | None:
    """Return the block with these (inventory, used) entries by offset, None removes one; None if no row is left."""
    columns = np.empty((5, BLOCK), np.int64)
    columns[:] = _ABSENT_ROW
    highest_min_unit, lowest_max_unit, step_sizes = 0, MAX_INT, {1}
    if block is not None:
        old = block.inventory
        where = slice(None) if old.where is None else old.where
        columns[:, where] = (old.capacity, old.min_unit, old.max_unit, old.step_size, block.free)
        highest_min_unit, lowest_max_unit = old.highest_min_unit, old.lowest_max_unit
        step_sizes = set(old.step_sizes)
    for offset, entry in entries.items():
        if entry is None:
            columns[:, offset] = _ABSENT_ROW[:, 0]
            continue
        new, used = entry
        # A negative capacity admits nothing, like 0; -1 would mean ABSENT.
        capacity = min(max(new.capacity, 0), MAX_CAPACITY)
        columns[:, offset] = (capacity, new.min_unit, new.max_unit, new.step_size, capacity - used)
        highest_min_unit = max(highest_min_unit, new.min_unit)
        lowest_max_unit = min(lowest_max_unit, new.max_unit)
        step_sizes.add(new.step_size)
    present = np.flatnonzero(columns[0] != ABSENT)
    if not len(present):
        return None
    sparse = len(present) < SPARSE
    capacities, min_units, max_units, steps, free = columns[:, present] if sparse else columns
    inventory = InventoryColumns(
        where=present if sparse else None,
        capacity=capacities,
        min_unit=min_units,
        max_unit=max_units,
        step_size=steps,
        highest_min_unit=highest_min_unit,
        lowest_max_unit=lowest_max_unit,
        step_sizes=frozenset(step_sizes),
    )
    return Block(inventory, free)


def group_by_block(rows: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row >> BLOCK_BITS, []).append(row)
    return found
