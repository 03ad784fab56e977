# SPDX-License-Identifier: Apache-2.0

"""From rows to hosts: the roots of the trees that providers belong to or serve by sharing."""

from __future__ import annotations

from plimsoll.search.budget import Budget
from plimsoll.search.filters import Filter
from plimsoll.search.index.bitset import RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.slots import Supply


class Hosts:
    """The hosts of an index. The hosts of a sharing provider are looked up once per explanation."""

    def __init__(self, index: Index, budget: Budget) -> None:
        self.index = index
        self.budget = budget
        self.all = index.trees.root_rows
        self._served: dict[int, RowSet] = {}
        self._of: dict[tuple[RowSet, RowSet], RowSet] = {}
        self._passing: dict[Filter, RowSet] = {}
        self._supplies: dict[tuple[RowSet, RowSet, RowSet, bool], Supply] = {}

    def rows_passing(self, step: Filter) -> RowSet:
        """Return all rows that meet a condition. Groups often have the same ones."""
        rows = self._passing.get(step)
        if rows is None:
            rows = self._passing[step] = step.keep(self.index, self.index.live)
        return rows

    def served_by(self, row: int) -> RowSet:
        """Return the hosts of other trees that a sharing provider serves."""
        served = self._served.get(row)
        if served is None:
            own = self.index.root_by_row().item(row)
            served = self._served[row] = self.index.anchors(row) & ~(1 << own)
            self.budget.check()
        return served

    def of(self, rows: RowSet, sharing: RowSet) -> RowSet:
        """Return the hosts of these rows, and those that these sharing providers serve."""
        if not sharing and not self.index.children:
            return rows
        found = self._of.get((rows, sharing))
        if found is None:
            found = self.index.roots_of(rows)
            for row in numbers_of(sharing, self.index.size).tolist() if sharing else ():
                found |= self.served_by(row)
                self.budget.spend()
            self._of[rows, sharing] = found
        return found

    def supply(self, rows: RowSet, sharing: RowSet, allowed: RowSet, *, serves_all: bool = False) -> Supply:
        """Return a supply at these hosts. Equal supplies are one object. `serves_all`: sharing providers serve all hosts."""
        key = (rows, sharing, allowed, serves_all)
        found = self._supplies.get(key)
        if found is None:
            found = self._supplies[key] = self._supply(rows, sharing, allowed, serves_all)
        return found

    def _supply(self, rows: RowSet, sharing: RowSet, allowed: RowSet, serves_all: bool) -> Supply:
        served: dict[int, RowSet] = {}
        anchors = self.index.roots_of(rows) & allowed
        for row in numbers_of(sharing, self.index.size).tolist() if sharing else ():
            own = 1 << self.index.root_by_row().item(row)
            here = (self.all & ~own if serves_all else self.served_by(row)) & allowed
            if here:
                served[row] = here
                anchors |= here
            self.budget.spend()
        return Supply(rows, served, anchors)
