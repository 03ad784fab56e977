# SPDX-License-Identifier: Apache-2.0

"""What providers have of one resource class, in columns that are cut into blocks of rows.

Nothing here ever changes in place. What claims change is the `free` column of some blocks: those are replaced and all
others shared, so that the cost does not depend on how many providers there are. A block in which few providers have the class
keeps only those, so that memory follows the number of inventories, not of classes times providers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
        return offset if self.where is None else int(self.where.searchsorted(offset))

    def places(self, rows: Numbers) -> Numbers:
        offsets = rows & (BLOCK - 1)
        return offsets if self.where is None else self.where.searchsorted(offsets)

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

    def write(self, sheet: NDArray[_T], answers: NDArray[_T]) -> None:
        """Puts one answer per column entry into the block's part of a sheet over all rows."""
        if self.terms.where is None:
            sheet[:] = answers
        else:
            sheet[self.terms.where] = answers

    def with_used(self, rows: Numbers, used: Numbers) -> Block:
        """With so much used at these rows, which must have the class."""
        places, free = self.terms.places(rows), self.free.copy()
        free[places] = self.terms.capacity[places] - used
        return Block(self.terms, free)


@dataclass(slots=True, eq=False)
class Column:
    """One number per row, never changed in place; the whole is put together when first asked for."""

    blocks: tuple[Numbers, ...] = ()
    _whole: Numbers | None = field(default=None, repr=False)

    def whole(self) -> Numbers:
        whole = self._whole
        if whole is None:
            # Two threads may both do this; they get the same.
            whole, self.blocks = joined(self.blocks, np.zeros(0, np.int64))
            self._whole = whole
        return whole

    def replaced(self, values: Mapping[int, int]) -> Column:
        blocks = list(self.blocks)
        for number, rows in by_block(values).items():
            while len(blocks) <= number:
                blocks.append(np.zeros(BLOCK, np.int64))
            changed = blocks[number].copy()
            for row in rows:
                changed[row & (BLOCK - 1)] = values[row]
            blocks[number] = changed
        return Column(tuple(blocks))


_NOTHING = np.array([[ABSENT], [0], [MAX_INT], [1], [-_LIMIT]], np.int64)
"""The columns of a row without the class: capacity, min_unit, max_unit, step_size, free."""


def rewritten(block: Block | None, entries: Mapping[int, tuple[Inventory, int] | None]) -> Block | None:
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


def joined(
    blocks: Sequence[NDArray[_T]], nothing: NDArray[_T]
) -> tuple[NDArray[_T], tuple[NDArray[_T], ...]]:
    """The whole of these blocks, and each as a part of it, so that nothing is there twice."""
    if not blocks:
        return nothing, ()
    whole = np.concatenate(blocks)
    return whole, tuple(np.split(whole, len(blocks)))


def by_block(rows: Iterable[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(row >> BLOCK_BITS, []).append(row)
    return found
