# SPDX-License-Identifier: Apache-2.0

"""The trees of an index: root, parent and members of each row. Expensive parts are computed on first use."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plimsoll.search.index.bitset import NONE, Numbers, RowSet, mask_of, numbers_of, rows_of_numbers
from plimsoll.search.index.blocks import Column


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees of an index. Claims do not change trees, so indexes share this object."""

    size: int = 0
    live: RowSet = NONE
    children: RowSet = NONE
    roots: Column = field(default_factory=Column)
    parents: Column = field(default_factory=Column)

    def roots_of(self, rows: RowSet) -> RowSet:
        nested = rows & self.children
        if not nested:
            return rows
        roots = self.roots.whole()[numbers_of(nested, self.size)]
        return (rows ^ nested) | rows_of_numbers(roots, self.size)

    def rows_of_trees(self, roots: RowSet) -> RowSet:
        if not roots or not self.children:
            return roots
        children = numbers_of(self.children, self.size)
        in_trees = mask_of(roots, self.size)[self.roots.whole()[children]]
        return roots | rows_of_numbers(children[in_trees], self.size)

    @cached_property
    def root_rows(self) -> RowSet:
        """The roots of all trees."""
        return self.live & ~self.children

    @property
    def no_row(self) -> int:
        """A row number that stands for "no row"."""
        return self.size

    def rows(self, roots: Numbers) -> Numbers:
        """Return a line per tree with its rows, ascending, padded with `no_row` to equal length."""
        members, start, count = self._grouped
        counts = count[roots]
        places = np.arange(counts.max(initial=0))
        rows = members.take(start[roots][:, None] + places, mode="clip")
        rows[places >= counts[:, None]] = self.no_row
        return rows

    def members_of_one(self, root: int) -> Numbers:
        """Return the rows of one tree, ascending."""
        members, start, count = self._grouped
        return members[start[root] : start[root] + count[root]]

    def members(self, roots: Numbers) -> Numbers:
        """Return all rows of these trees, ascending."""
        rows, root_of_each = self._live_roots
        wanted = np.zeros(self.size, np.bool_)
        wanted[roots] = True
        return rows[wanted[root_of_each]]

    @cached_property
    def largest_size(self) -> int:
        """The number of rows of the largest tree."""
        return int(self._grouped[2].max(initial=0))

    @cached_property
    def place_by_row(self) -> Numbers:
        """The position of each row in its tree, from 0."""
        members, start, _ = self._grouped
        place = np.zeros(self.size + 1, np.int64)
        place[members] = np.arange(len(members)) - start[self.roots.whole()[members]]
        return place

    @cached_property
    def parent_place_by_row(self) -> Numbers:
        """The position of each row's parent in the tree, -1 for roots."""
        members, _, _ = self._grouped
        parents = self.parents.whole()[members]
        place = np.full(self.size + 1, -1, np.int64)
        place[members] = np.where(parents < 0, -1, self.place_by_row[parents])
        return place

    @cached_property
    def _live_roots(self) -> tuple[Numbers, Numbers]:
        """All rows in use, ascending, and the root of each."""
        rows = numbers_of(self.live, self.size)
        return rows, self.roots.whole()[rows]

    @cached_property
    def _grouped(self) -> tuple[Numbers, Numbers, Numbers]:
        """All rows grouped by tree; by root, the start of its tree in them; by root, the size of its tree."""
        rows, roots = self._live_roots
        count = np.bincount(roots, minlength=self.size)
        return rows[np.argsort(roots, kind="stable")], np.cumsum(count) - count, count
