# SPDX-License-Identifier: Apache-2.0

"""One resource class of all providers: who has how much of it, and who could give a certain amount.

The same amounts are asked for again and again, and between two searches only a few providers change. Who could give an
amount is therefore kept, and handed on to the next stock together with the rows that have to be looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from plimsoll.domain.inventory import Inventory
from plimsoll.search.index import blocks as column_blocks
from plimsoll.search.index.bitset import (
    NONE,
    Mask,
    Numbers,
    RowSet,
    rows_of,
    rows_of_mask,
)
from plimsoll.search.index.blocks import (
    Block,
    Terms,
    by_block,
    rewritten,
)

_MOST_AMOUNTS = 64
_MOST_LATE = 64
_MOST_CHANGED = 16
"""Where more rows have changed, it is quicker to look at all of them."""

Blocks = tuple[Block | None, ...]
"""A block in which nobody has the class is None."""
Known = dict[int, RowSet]
"""Rows by amount."""


@dataclass(slots=True, eq=False)
class ClassColumn:
    """Never changed in place."""

    blocks: Blocks = ()
    rows: RowSet = NONE
    """Who has an inventory of the class."""
    _cutting: Known = field(default_factory=dict)
    """What `cutting` found so far. Shared by all stocks with the same inventories."""
    _holding: Known = field(default_factory=dict)
    """What `holding` found so far."""
    _held: Known = field(default_factory=dict)
    """What `holding` found of an earlier stock."""
    _changed: frozenset[int] = frozenset()
    """The rows that have changed since then."""
    _late: Mapping[int, int] = field(default_factory=dict)
    """What is used at the few rows of which the blocks do not know it yet: it is written into them many at a time."""

    def cutting(self, amount: int) -> RowSet:
        """Whose units allow one piece of this size."""
        found = self._cutting.get(amount)
        if found is None:
            found = self.rows
            if not all(block is None or block.terms.cut_everywhere(amount) for block in self.blocks):
                found &= _those(self.blocks, lambda block: block.terms.cutting(amount))
            _keep(self._cutting, amount, found)
        return found

    def holding(self, amount: int) -> RowSet:
        """Who has this much left."""
        found = self._holding.get(amount)
        if found is None:
            held = self._held.get(amount)
            if held is None or len(self._changed) > _MOST_CHANGED:
                found = _those(_written(self.blocks, self._late), lambda block: block.free >= amount)
            else:
                found = held
                for row in self._changed:
                    found = found | 1 << row if self._at(row)[2] >= amount else found & ~(1 << row)
            _keep(self._holding, amount, found)
        return found

    def _at(self, row: int) -> tuple[Terms, int, int]:
        """For a row that has the class: its terms, where in them it is, and what is free."""
        block = self.blocks[row >> column_blocks.BLOCK_BITS]
        assert block is not None, "only asked where the class is known to be there"
        terms, used = block.terms, self._late.get(row)
        place = terms.place(row)
        return terms, place, block.free.item(place) if used is None else terms.capacity.item(place) - used

    def room(self, row: int) -> int:
        """How much one consumer may still take in all: neither more than is free nor than max_unit."""
        terms, place, free = self._at(row)
        return min(free, terms.max_unit.item(place))

    def room_by_row(self, size: int) -> Numbers:
        """`room` of all rows; what it says of those without the class means nothing."""
        rooms = np.zeros(max(size, len(self.blocks) * column_blocks.BLOCK), np.int64)
        for number, block in enumerate(_written(self.blocks, self._late)):
            if block is not None:
                here = rooms[number * column_blocks.BLOCK : (number + 1) * column_blocks.BLOCK]
                block.write(here, np.minimum(block.free, block.terms.max_unit))
        return rooms[:size]

    def used(self, entries: Mapping[int, int]) -> ClassColumn:
        """With other usages at some rows that have the class: the work of a claim."""
        held, changed = self._holding, self._changed.union(entries)
        too_much = len(self._held) > _MOST_AMOUNTS or len(changed) > _MOST_CHANGED
        if too_much or self._held.keys() <= held.keys():
            changed = frozenset(entries)
        else:
            held = {**self._held, **held}
        blocks, late = self.blocks, {**self._late, **entries}
        if len(late) > _MOST_LATE:
            blocks, late = _written(blocks, late), {}
        return ClassColumn(blocks, self.rows, self._cutting, {}, held, changed, late)

    def replaced(self, entries: Mapping[int, tuple[Inventory, int] | None]) -> ClassColumn:
        """With other inventories and usages at some rows; None where the class is gone."""
        blocks = list(_written(self.blocks, self._late))
        for number, rows in by_block(entries).items():
            blocks.extend([None] * (number + 1 - len(blocks)))
            blocks[number] = rewritten(
                blocks[number], {row & (column_blocks.BLOCK - 1): entries[row] for row in rows}
            )
        gone = rows_of([row for row, entry in entries.items() if entry is None])
        here = rows_of([row for row, entry in entries.items() if entry is not None])
        return ClassColumn(tuple(blocks), (self.rows & ~gone) | here)


def _written(blocks: Blocks, used_by_row: Mapping[int, int]) -> Blocks:
    """The blocks, knowing what is used at these rows."""
    if not used_by_row:
        return blocks
    rows = np.fromiter(used_by_row, np.int64, len(used_by_row))
    used = np.fromiter(used_by_row.values(), np.int64, len(used_by_row))
    numbers = rows >> column_blocks.BLOCK_BITS
    written = list(blocks)
    for number in set(numbers.tolist()):
        block, here = written[number], numbers == number
        assert block is not None, "usage of a class that the provider does not have"
        written[number] = block.with_used(rows[here], used[here])
    return tuple(written)


def _those(blocks: Blocks, answers: Callable[[Block], Mask]) -> RowSet:
    """The rows to which this question is answered with yes."""
    mask = np.zeros(len(blocks) * column_blocks.BLOCK, np.bool_)
    for number, block in enumerate(blocks):
        if block is not None:
            block.write(
                mask[number * column_blocks.BLOCK : (number + 1) * column_blocks.BLOCK], answers(block)
            )
    return rows_of_mask(mask)


def _keep(known: Known, amount: int, rows: RowSet) -> None:
    if len(known) >= _MOST_AMOUNTS:
        known.clear()
    known[amount] = rows
