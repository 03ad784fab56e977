# SPDX-License-Identifier: Apache-2.0

"""Which rows make up each tree, and how they hang together. What takes work is done when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from plimsoll.search.index.bitset import (
    NONE,
    Numbers,
    RowSet,
    mask_of,
    numbers_of,
    rows_of_numbers,
)
from plimsoll.search.index.blocks import Column

_MOST_KNOWN = 64


@dataclass(frozen=True, eq=False)
class Trees:
    """All trees of an index. Indexes with the same trees share it: there is nothing in it that a claim changes."""

    size: int = 0
    live: RowSet = NONE
    children: RowSet = NONE
    roots: Column = field(default_factory=Column)
    parents: Column = field(default_factory=Column)
    _known_roots: dict[RowSet, RowSet] = field(default_factory=dict)
    """What `roots_of` found last."""

    def roots_of(self, rows: RowSet) -> RowSet:
        nested = rows & self.children
        if not nested:
            return rows
        roots = self._known_roots.get(nested)
        if roots is None:
            roots = rows_of_numbers(self.roots.whole()[numbers_of(nested, self.size)], self.size)
            if len(self._known_roots) >= _MOST_KNOWN:
                self._known_roots.clear()
            self._known_roots[nested] = roots
        return (rows ^ nested) | roots

    def below(self, roots: RowSet) -> RowSet:
        if not roots or not self.children:
            return roots
        children = numbers_of(self.children, self.size)
        near = mask_of(roots, self.size)[self.roots.whole()[children]]
        return roots | rows_of_numbers(children[near], self.size)

    @cached_property
    def tops(self) -> RowSet:
        """The roots of all trees."""
        return self.live & ~self.children

    @property
    def nobody(self) -> int:
        """Stands for a row where there is none."""
        return self.size

    def rows(self, roots: Numbers) -> Numbers:
        """For each of these trees its rows, ascending, filled up with `nobody` to the size of the largest."""
        members, start, count = self._sorted
        counts = count[roots]
        places = np.arange(counts.max(initial=0))
        rows = members.take(start[roots][:, None] + places, mode="clip")
        rows[places >= counts[:, None]] = self.nobody
        return rows

    def members(self, roots: Numbers) -> Numbers:
        """All rows of these trees, ascending."""
        rows, root_of_each = self._live
        wanted = np.zeros(self.size, np.bool_)
        wanted[roots] = True
        return rows[wanted[root_of_each]]

    @cached_property
    def largest(self) -> int:
        """How many rows the largest tree has."""
        return int(self._sorted[2].max(initial=0))

    @cached_property
    def place_by_row(self) -> Numbers:
        """Where in its tree each row is, counted from 0."""
        members, start, _ = self._sorted
        place = np.zeros(self.size + 1, np.int64)
        place[members] = np.arange(len(members)) - start[self.roots.whole()[members]]
        return place

    @cached_property
    def parent_place_by_row(self) -> Numbers:
        """Where in its tree each row's parent is, -1 for roots."""
        members, _, _ = self._sorted
        parents = self.parents.whole()[members]
        place = np.full(self.size + 1, -1, np.int64)
        place[members] = np.where(parents < 0, -1, self.place_by_row[parents])
        return place

    @cached_property
    def _live(self) -> tuple[Numbers, Numbers]:
        """All rows in use, ascending, and the root of each."""
        rows = numbers_of(self.live, self.size)
        return rows, self.roots.whole()[rows]

    @cached_property
    def _sorted(self) -> tuple[Numbers, Numbers, Numbers]:
        """All rows, tree after tree; by root, where its tree begins there; by root, how many rows it has."""
        rows, roots = self._live
        count = np.bincount(roots, minlength=self.size)
        return rows[np.argsort(roots, kind="stable")], np.cumsum(count) - count, count
