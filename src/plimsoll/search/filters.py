# SPDX-License-Identifier: Apache-2.0

"""Filters: each takes a set of rows and returns the rows that meet one condition.

A search applies a chain of filters. With a list of reports, `apply_filters` also records the rows that each filter got
and kept, and splits the capacity rule into its parts; `explain/` explains a result with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_
from typing import ClassVar, Protocol, TypeAlias

from plimsoll.domain.values import value
from plimsoll.search.index.bitset import NONE, RowSet, union
from plimsoll.search.index.index import Index
from plimsoll.search.request import AnyOf


class Filter(Protocol):
    reason: ClassVar[str]
    """The stable name of the reason for which the filter removes a row."""

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        """Return the rows that meet the condition."""
        ...


@value
class FilterReport:
    """The rows before and after a filter."""

    step: Filter
    before: RowSet
    after: RowSet
    alone: RowSet
    """All rows of the index that meet the condition."""


def apply_filters(
    index: Index, rows: RowSet, steps: Iterable[Step], reports: list[FilterReport] | None = None
) -> RowSet:
    """Return the rows that pass all filters. With `reports`, append one report per filter, also after the last row."""
    if reports is not None:
        return _apply_and_report(index, rows, steps, reports)
    for step in steps:
        if not rows:
            break
        rows = step.keep(index, rows)
    return rows


def _apply_and_report(
    index: Index, rows: RowSet, steps: Iterable[Step], reports: list[FilterReport]
) -> RowSet:
    for step in steps:
        if isinstance(step, Admits):
            rows = _apply_and_report(index, rows, step.separate_filters(), reports)
        else:
            alone = step.keep(index, index.live)
            reports.append(FilterReport(step, rows, rows & alone, alone))
            rows &= alone
    return rows


def rows_with_any_trait(index: Index, traits: Iterable[str]) -> RowSet:
    return union(map(index.with_trait, traits))


def rows_in_any_aggregate(index: Index, aggregates: Iterable[str]) -> RowSet:
    return union(map(index.in_aggregate, aggregates))


def rows_matching_member_of(index: Index, member_of: Sequence[AnyOf]) -> RowSet:
    """Return the rows that are, for each item, in at least one aggregate of the item."""
    return reduce(and_, [rows_in_any_aggregate(index, any_of) for any_of in member_of], index.live)


@value
class HasTrait:
    """The provider has at least one of these traits."""

    reason: ClassVar[str] = "required"

    any_of: AnyOf

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & rows_with_any_trait(index, self.any_of)


@value
class LacksTraits:
    """The provider has none of these traits."""

    reason: ClassVar[str] = "forbidden"

    traits: frozenset[str]

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & ~rows_with_any_trait(index, self.traits)


@value
class MemberOf:
    """The provider is, for each item, in one of its aggregates. With `tree`, membership of its root is enough."""

    reason: ClassVar[str] = "member_of"

    member_of: tuple[AnyOf, ...]
    tree: bool = False

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = rows_matching_member_of(index, self.member_of)
        if self.tree:
            members |= index.rows_of_trees(members & ~index.children)
        return rows & members


@value
class NotMemberOf:
    """The provider is in none of these aggregates. With `tree`, its root must not be in one either."""

    reason: ClassVar[str] = "not_member_of"

    aggregates: frozenset[str]
    tree: bool = False

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = rows_in_any_aggregate(index, self.aggregates)
        if self.tree:
            members |= index.rows_of_trees(members & ~index.children)
        return rows & ~members


@value
class HasCondition:
    """Keeps no row: a group without resources, required traits and aggregates. The API defines that as no provider."""

    reason: ClassVar[str] = "no_condition"

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return NONE


@value
class InTree:
    """The provider is one of the rows in `tree`, the tree of provider `uuid`."""

    reason: ClassVar[str] = "in_tree"

    uuid: str
    tree: RowSet

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & self.tree


@value
class HasInventory:
    """The provider has an inventory of the class."""

    reason: ClassVar[str] = "no_inventory"

    resource_class: str

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows


@value
class AboveMinUnit:
    """The min_unit of the provider allows this amount."""

    reason: ClassVar[str] = "min_unit"
    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_by_min_unit(self.amount)


@value
class BelowMaxUnit:
    """The max_unit of the provider allows this amount."""

    reason: ClassVar[str] = "max_unit"
    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_by_max_unit(self.amount)


@value
class MatchesStepSize:
    """The step_size of the provider allows this amount."""

    reason: ClassVar[str] = "step_size"
    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_by_step_size(self.amount)


@value
class FitsCapacity:
    """The whole capacity of the provider (total, reserved, ratio) is at least this amount."""

    reason: ClassVar[str] = "capacity"
    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_by_capacity(self.amount)


@value
class HasFree:
    """The provider has at least this amount free."""

    reason: ClassVar[str] = "used"
    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_with_free(self.amount)


Part: TypeAlias = HasInventory | AboveMinUnit | BelowMaxUnit | MatchesStepSize | FitsCapacity | HasFree
"""A part of the capacity rule."""


@value
class Admits:
    """The capacity rule (`Inventory.admits`) in one step; `separate_filters` splits it for reports."""

    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        class_column = index.class_column(self.resource_class)
        return rows & class_column.rows_allowing(self.amount) & class_column.rows_with_free(self.amount)

    def separate_filters(self) -> tuple[Part, ...]:
        """Return one filter for each thing that can be wrong, in the order of the reports."""
        name, amount = self.resource_class, self.amount
        return (
            HasInventory(name),
            AboveMinUnit(name, amount),
            BelowMaxUnit(name, amount),
            MatchesStepSize(name, amount),
            FitsCapacity(name, amount),
            HasFree(name, amount),
        )


Step: TypeAlias = Filter | Admits
