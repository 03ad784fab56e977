# SPDX-License-Identifier: Apache-2.0

"""From rows to hosts: the roots of the trees that providers belong to or serve by sharing."""

from __future__ import annotations

from plimsoll.search.budget import Budget
from plimsoll.search.filters import Filter, FilterReport, Part
from plimsoll.search.index.bitset import Numbers, RowSet, numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.slots import Supply, supply_of_rows


class Hosts:
    """The hosts of an index. The hosts of a sharing provider are looked up once per explanation."""

    def __init__(self, index: Index, budget: Budget) -> None:
        self.index = index
        self.budget = budget
        self.all = index.trees.root_rows
        self._served: dict[int, RowSet] = {}
        self._of: dict[tuple[RowSet, RowSet], RowSet] = {}
        self._passing: dict[Filter, RowSet] = {}
        self._values: dict[tuple[str, str], Numbers] = {}
        self._supplies: dict[tuple[RowSet, RowSet, RowSet, bool], Supply] = {}

    def add_report(self, report: FilterReport) -> None:
        """Add what the traced search has found already."""
        self._passing[report.step] = report.alone

    def rows_passing(self, step: Filter) -> RowSet:
        """Return all rows that meet a condition. Groups often have the same ones."""
        rows = self._passing.get(step)
        if rows is None:
            rows = self._passing[step] = step.keep(self.index, self.index.live)
        return rows

    def values_by_row(self, step: Part) -> Numbers:
        """Return what a part of the capacity rule compares, for all rows."""
        key = step.resource_class, step.reason
        values = self._values.get(key)
        if values is None:
            column = self.index.class_column(step.resource_class)
            values = self._values[key] = column.values_by_row(step.reason, self.index.size)
        return values

    def served_by(self, row: int) -> RowSet:
        """Return the hosts of other trees that a sharing provider serves."""
        self.budget.spend()
        served = self._served.get(row)
        if served is None:
            served = self._served[row] = self.index.anchors_in_other_trees(row)
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
            self._of[rows, sharing] = found
        return found

    def supply(self, rows: RowSet, sharing: RowSet, allowed: RowSet, *, serves_all: bool = False) -> Supply:
        """Return a supply at these hosts. Equal supplies are one object. `serves_all`: sharing providers serve all hosts."""
        key = (rows, sharing, allowed, serves_all)
        found = self._supplies.get(key)
        if found is None:
            served_by = self._all_but_own if serves_all else self.served_by
            found = supply_of_rows(self.index, rows, sharing, allowed, served_by)
            self._supplies[key] = found
        return found

    def _all_but_own(self, row: int) -> RowSet:
        self.budget.spend()
        return self.all & ~(1 << self.index.root_by_row().item(row))
