# SPDX-License-Identifier: Apache-2.0

"""One resource class of all providers: inventories, free amounts, and the rows that admit an amount.

Searches use the same amounts repeatedly, and between two searches only a few providers change. The rows that have an
amount free are therefore cached, and the next column gets the cache together with the rows to check again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.values import with_fields
from plimsoll.search.index import blocks as column_blocks
from plimsoll.search.index.bitset import (
    NONE,
    Mask,
    Numbers,
    RowSet,
    mask_of,
    numbers_of,
    rows_of,
    rows_of_mask,
)
from plimsoll.search.index.blocks import Block, InventoryColumns, group_by_block, rewrite_block

_MAX_AMOUNTS = 64
_MAX_CHANGED = 16
"""With more changed rows, checking all rows is faster."""

Blocks = tuple[Block | None, ...]
"""None stands for a block in which no provider has the class."""
RowsByAmount = dict[int, RowSet]
"""Cached rows by amount."""


@dataclass(slots=True, eq=False)
class ClassColumn:
    """All inventories and usages of one resource class, by row. Immutable, apart from its caches."""

    blocks: Blocks = ()
    rows: RowSet = NONE
    """The rows with an inventory of the class."""
    _allowing: RowsByAmount = field(default_factory=dict)
    """Cache of `rows_allowing`, shared by all columns with the same inventories."""
    _with_free: RowsByAmount = field(default_factory=dict)
    """Cache of `rows_with_free`."""
    _with_free_before: RowsByAmount = field(default_factory=dict)
    """Cache of `rows_with_free` of an earlier column."""
    _changed: frozenset[int] = frozenset()
    """The rows that have changed since that column."""

    def rows_allowing(self, amount: int) -> RowSet:
        """Return the rows whose min_unit, max_unit and step_size allow this amount."""
        found = self._allowing.get(amount)
        if found is None:
            found = self.rows
            if not all(block is None or block.inventory.all_rows_allow(amount) for block in self.blocks):
                found &= _rows_where(self.blocks, lambda block: block.inventory.allows(amount))
            _cache(self._allowing, amount, found)
        return found

    def rows_with_free(self, amount: int) -> RowSet:
        """Return the rows that have at least this amount free."""
        found = self._with_free.get(amount)
        if found is None:
            before = self._with_free_before.get(amount)
            if before is None or len(self._changed) > _MAX_CHANGED:
                found = _rows_where(self.blocks, lambda block: block.free >= amount)
            else:
                found = before
                for row in self._changed:
                    found = found | 1 << row if self.free(row) >= amount else found & ~(1 << row)
            _cache(self._with_free, amount, found)
        return found

    def rows_by_min_unit(self, amount: int) -> RowSet:
        """Return the rows whose min_unit allows this amount."""
        return self._rows_by_inventory(
            lambda columns: columns.highest_min_unit <= amount, lambda columns: columns.min_unit <= amount
        )

    def rows_by_max_unit(self, amount: int) -> RowSet:
        """Return the rows whose max_unit allows this amount."""
        return self._rows_by_inventory(
            lambda columns: columns.lowest_max_unit >= amount, lambda columns: columns.max_unit >= amount
        )

    def rows_by_step_size(self, amount: int) -> RowSet:
        """Return the rows whose step_size allows this amount."""
        return self._rows_by_inventory(
            lambda columns: all(amount % step == 0 for step in columns.step_sizes),
            lambda columns: amount % columns.step_size == 0,
        )

    def rows_by_capacity(self, amount: int) -> RowSet:
        """Return the rows whose whole capacity is at least this amount."""
        return self.rows & _rows_where(self.blocks, lambda block: block.inventory.capacity >= amount)

    def _rows_by_inventory(
        self, all_rows: Callable[[InventoryColumns], bool], each_row: Callable[[InventoryColumns], Mask]
    ) -> RowSet:
        """Return the rows that meet `each_row`; no row is checked if the bounds of all blocks meet `all_rows`."""
        if all(block is None or all_rows(block.inventory) for block in self.blocks):
            return self.rows
        return self.rows & _rows_where(self.blocks, lambda block: each_row(block.inventory))

    def _locate(self, row: int) -> tuple[Block, int]:
        """Return the block of a row that has the class, and its position in the columns."""
        block = self.blocks[row >> column_blocks.BLOCK_BITS]
        assert block is not None, "row without an inventory of the class"
        return block, block.inventory.place(row)

    def free(self, row: int) -> int:
        """Return the free amount of a row that has the class."""
        block, place = self._locate(row)
        return block.free.item(place)

    def room(self, row: int) -> int:
        """Return how much one consumer may still allocate: the lower of free amount and max_unit."""
        block, place = self._locate(row)
        return min(block.free.item(place), block.inventory.max_unit.item(place))

    def values_by_row(self, part: str, size: int) -> Numbers:
        """Return what a part of the capacity rule compares, for all rows: free amount (`used`), capacity or a unit."""
        return self._by_row(size, _VALUES[part])

    def room_by_row(self, size: int) -> Numbers:
        """Return `room` for all rows; values of rows without the class are undefined."""
        return self._by_row(size, lambda block: np.minimum(block.free, block.inventory.max_unit))

    def _by_row(self, size: int, values: Callable[[Block], Numbers]) -> Numbers:
        """Return a value per row of the index; 0 in blocks and rows without a column entry."""
        by_row = np.zeros(max(size, len(self.blocks) * column_blocks.BLOCK), np.int64)
        for number, block in enumerate(self.blocks):
            if block is not None:
                here = by_row[number * column_blocks.BLOCK : (number + 1) * column_blocks.BLOCK]
                block.write(here, values(block))
        return by_row[:size]

    def largest_allowed(self, size: int, at_most: int, taken: int = 0) -> Numbers:
        """Return, for all rows, the largest amount that units and room allow, 0 for none and without the class.

        Not above `at_most`; `taken` is an amount of the same consumer that the row has to serve too.
        """
        found = self._by_row(size, lambda block: block.largest_allowed(at_most, taken))
        return np.where(mask_of(self.rows, size), found, 0)

    def smallest_allowed(self, size: int, at_least: int, taken: int = 0) -> Numbers:
        """Return, for all rows, the smallest amount from `at_least` on that units and room allow, 0 for none."""
        found = self._by_row(size, lambda block: block.smallest_allowed(at_least, taken))
        return np.where(mask_of(self.rows, size), found, 0)

    def with_used(self, entries: Mapping[int, int]) -> ClassColumn:
        """Return a column with new usages at some rows that have the class, as after a claim."""
        before, changed = self._with_free, self._changed.union(entries)
        too_much = len(self._with_free_before) > _MAX_AMOUNTS or len(changed) > _MAX_CHANGED
        if too_much or self._with_free_before.keys() <= before.keys():
            changed = frozenset(entries)
        else:
            before = {**self._with_free_before, **before}
        blocks = _with_used(self.blocks, entries)
        return with_fields(self, blocks=blocks, _with_free={}, _with_free_before=before, _changed=changed)

    def emptied(self) -> ClassColumn:
        """Return a column without usage."""
        blocks = tuple([None if block is None else block.emptied() for block in self.blocks])
        return ClassColumn(blocks, self.rows, self._allowing)

    def with_free_added(self, amounts: Mapping[int, int]) -> ClassColumn:
        """Return a column with these amounts, by row that has the class, added to the free amounts."""
        blocks = list(self.blocks)
        for number, rows in group_by_block(amounts).items():
            block = blocks[number]
            assert block is not None, "row without an inventory of the class"
            free = block.free.copy()
            for row in rows:
                free[block.inventory.place(row)] += amounts[row]
            blocks[number] = replace(block, free=free)
        return ClassColumn(tuple(blocks), self.rows, self._allowing)

    def with_nothing_free(self, rows: RowSet) -> ClassColumn:
        """Return a column in which these rows, which have the class, have nothing free."""
        numbers = numbers_of(rows, len(self.blocks) * column_blocks.BLOCK).tolist()
        return self.with_free_added({row: -self.free(row) for row in numbers})

    def with_free(self, free_by_row: Numbers) -> ClassColumn:
        """Return a column with these free amounts; values of rows without the class are not used."""
        blocks = list(self.blocks)
        for number, block in enumerate(blocks):
            if block is not None:
                start = number * column_blocks.BLOCK
                here = block.free.copy()
                block.read(free_by_row[start : start + column_blocks.BLOCK], here)
                blocks[number] = replace(block, free=here)
        return ClassColumn(tuple(blocks), self.rows, self._allowing)

    def free_by_row(self, size: int) -> Numbers:
        """Return the free amount of all rows; values of rows without the class are undefined."""
        return self._by_row(size, lambda block: block.free)

    def replaced(self, entries: Mapping[int, tuple[Inventory, int] | None]) -> ClassColumn:
        """Return a column with new inventories and usages at some rows; None removes the inventory."""
        blocks = list(self.blocks)
        for number, rows in group_by_block(entries).items():
            blocks.extend([None] * (number + 1 - len(blocks)))
            blocks[number] = rewrite_block(
                blocks[number], {row & (column_blocks.BLOCK - 1): entries[row] for row in rows}
            )
        gone = rows_of([row for row, entry in entries.items() if entry is None])
        here = rows_of([row for row, entry in entries.items() if entry is not None])
        return ClassColumn(tuple(blocks), (self.rows & ~gone) | here)


_VALUES: Mapping[str, Callable[[Block], Numbers]] = {
    "used": lambda block: block.free,
    "capacity": lambda block: block.inventory.capacity,
    "min_unit": lambda block: block.inventory.min_unit,
    "max_unit": lambda block: block.inventory.max_unit,
    "step_size": lambda block: block.inventory.step_size,
}


def _with_used(blocks: Blocks, used_by_row: Mapping[int, int]) -> Blocks:
    """Return the blocks with these usages."""
    rows = np.fromiter(used_by_row, np.int64, len(used_by_row))
    used = np.fromiter(used_by_row.values(), np.int64, len(used_by_row))
    numbers = rows >> column_blocks.BLOCK_BITS
    written = list(blocks)
    for number in set(numbers.tolist()):
        block, here = written[number], numbers == number
        assert block is not None, "usage of a class that the provider does not have"
        written[number] = block.with_used(rows[here], used[here])
    return tuple(written)


def _rows_where(blocks: Blocks, condition: Callable[[Block], Mask]) -> RowSet:
    """Return the rows for which `condition` is true."""
    mask = np.zeros(len(blocks) * column_blocks.BLOCK, np.bool_)
    for number, block in enumerate(blocks):
        if block is not None:
            block.write(
                mask[number * column_blocks.BLOCK : (number + 1) * column_blocks.BLOCK], condition(block)
            )
    return rows_of_mask(mask)


def _cache(known: RowsByAmount, amount: int, rows: RowSet) -> None:
    if len(known) >= _MAX_AMOUNTS:
        known.clear()
    known[amount] = rows
