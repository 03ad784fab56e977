# SPDX-License-Identifier: Apache-2.0

"""Filters: each takes a set of rows and returns the rows that meet one condition.

A search applies a chain of filters. With a list of filter counts, `apply_filters` also records how many rows each
filter got and kept; `obstacle.py` explains an empty result with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_
from typing import Protocol, TypeAlias

from plimsoll.domain.values import value
from plimsoll.search.index.bitset import RowSet, union
from plimsoll.search.index.index import Index
from plimsoll.search.request import AnyOf


class Filter(Protocol):
    def keep(self, index: Index, rows: RowSet) -> RowSet:
        """Return the rows that meet the condition."""
        ...

    def describe(self) -> str:
        """Return the condition as a predicate; the message is "no provider <predicate>"."""
        ...


@value
class FilterCount:
    """The number of rows before and after a filter."""

    step: Filter
    before: int
    after: int


FilterCounts = list[FilterCount]


def apply_filters(
    index: Index, rows: RowSet, steps: Iterable[Step], counts: FilterCounts | None = None
) -> RowSet:
    """Return the rows that pass all filters. With `counts`, append one count per filter."""
    if counts is not None:
        return _apply_and_count(index, rows, steps, counts)
    for step in steps:
        if not rows:
            break
        rows = step.keep(index, rows)
    return rows


def _apply_and_count(index: Index, rows: RowSet, steps: Iterable[Step], counts: FilterCounts) -> RowSet:
    for step in steps:
        if isinstance(step, Admits):
            rows = _apply_and_count(index, rows, step.separate_filters(), counts)
        else:
            kept = step.keep(index, rows)
            counts.append(FilterCount(step, rows.bit_count(), kept.bit_count()))
            rows = kept
    return rows


def rows_with_any_trait(index: Index, traits: Iterable[str]) -> RowSet:
    return union(map(index.with_trait, traits))


def rows_in_any_aggregate(index: Index, aggregates: Iterable[str]) -> RowSet:
    return union(map(index.in_aggregate, aggregates))


def rows_matching_member_of(index: Index, member_of: Sequence[AnyOf]) -> RowSet:
    """Return the rows that are, for each item, in at least one aggregate of the item."""
    return reduce(and_, [rows_in_any_aggregate(index, any_of) for any_of in member_of], index.live)


_MAX_LISTED = 5


def _join_names(names: Iterable[str]) -> str:
    """Join the first few names with commas."""
    known = sorted(names)
    more = len(known) - _MAX_LISTED
    return ", ".join(known[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


@value
class HasTrait:
    """The provider has at least one of these traits."""

    any_of: AnyOf

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & rows_with_any_trait(index, self.any_of)

    def describe(self) -> str:
        several = "one of the traits" if len(self.any_of) > 1 else "the trait"
        return f"has {several} {_join_names(self.any_of)}"


@value
class LacksTraits:
    """The provider has none of these traits."""

    traits: frozenset[str]

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & ~rows_with_any_trait(index, self.traits)

    def describe(self) -> str:
        return f"is without the forbidden traits {_join_names(self.traits)}"


@value
class MemberOf:
    """The provider is, for each item, in one of its aggregates. With `tree`, membership of its root is enough."""

    member_of: tuple[AnyOf, ...]
    tree: bool = False

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = rows_matching_member_of(index, self.member_of)
        if self.tree:
            members |= index.rows_of_trees(members & ~index.children)
        return rows & members

    def describe(self) -> str:
        return "is in an aggregate of each member_of: " + "; ".join(
            map(_join_names, self.member_of[:_MAX_LISTED])
        )


@value
class NotMemberOf:
    """The provider is in none of these aggregates. With `tree`, its root must not be in one either."""

    aggregates: frozenset[str]
    tree: bool = False

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = rows_in_any_aggregate(index, self.aggregates)
        if self.tree:
            members |= index.rows_of_trees(members & ~index.children)
        return rows & ~members

    def describe(self) -> str:
        return f"is outside of the forbidden aggregates {_join_names(self.aggregates)}"


@value
class InTree:
    """The provider is one of the rows in `tree`, the tree of provider `uuid`."""

    uuid: str
    tree: RowSet

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & self.tree

    def describe(self) -> str:
        return f"is in the tree of {self.uuid}"


@value
class HasInventory:
    """The provider has an inventory of the class."""

    resource_class: str

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows

    def describe(self) -> str:
        return f"has an inventory of {self.resource_class}"


@value
class AllowsAmount:
    """min_unit, max_unit and step_size of the provider allow this amount."""

    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_allowing(self.amount)

    def describe(self) -> str:
        return f"allows {self.resource_class}:{self.amount} by its min_unit, max_unit and step_size"


@value
class HasFree:
    """The provider has at least this amount free."""

    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.class_column(self.resource_class).rows_with_free(self.amount)

    def describe(self) -> str:
        return f"has {self.resource_class}:{self.amount} free"


@value
class Admits:
    """The capacity rule (`Inventory.admits`) in one step; `separate_filters` splits it for counts."""

    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        class_column = index.class_column(self.resource_class)
        return rows & class_column.rows_allowing(self.amount) & class_column.rows_with_free(self.amount)

    def separate_filters(self) -> tuple[Filter, ...]:
        """Return one filter each for inventory, units and capacity, so that each is counted."""
        name, amount = self.resource_class, self.amount
        return HasInventory(name), AllowsAmount(name, amount), HasFree(name, amount)


Step: TypeAlias = Filter | Admits
