# SPDX-License-Identifier: Apache-2.0

"""The steps by which providers drop out of a search. Each takes a set of rows, gives a smaller one, and says why.

A search is a chain of these steps. Whoever wants to know where the providers went passes a tally: the same
steps run, and each one's loss is written down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Protocol, TypeAlias

from plimsoll.domain.values import value
from plimsoll.search.index.bitset import NONE, RowSet
from plimsoll.search.index.index import Index
from plimsoll.search.request import AnyOf


class Reason(Enum):
    """Why a provider was left out."""

    TRAIT_MISSING = "required trait missing"
    TRAIT_FORBIDDEN = "forbidden trait"
    NOT_IN_AGGREGATE = "not in a wanted aggregate"
    IN_FORBIDDEN_AGGREGATE = "in a forbidden aggregate"
    NOT_IN_TREE = "not in the wanted tree"
    NO_INVENTORY = "no inventory of the class"
    UNITS = "amount not allowed by min_unit, max_unit or step_size"
    CAPACITY = "not enough left"


class Filter(Protocol):
    @property
    def reason(self) -> Reason: ...

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        """Those of the rows that pass."""
        ...

    def meaning(self) -> str:
        """The condition as a predicate, to be read after "no provider"."""
        ...


@value
class Loss:
    """How many a step was given and how many it kept."""

    step: Filter
    before: int
    after: int

    @property
    def removed(self) -> int:
        return self.before - self.after


Tally = list[Loss]


def narrow(index: Index, rows: RowSet, steps: Iterable[Step], tally: Tally | None = None) -> RowSet:
    """What is left of the rows after all steps."""
    if tally is not None:
        return _tallied(index, rows, steps, tally)
    for step in steps:
        if not rows:
            break
        rows = step.keep(index, rows)
    return rows


def _tallied(index: Index, rows: RowSet, steps: Iterable[Step], tally: Tally) -> RowSet:
    for step in steps:
        if isinstance(step, Admits):
            rows = _tallied(index, rows, step.told_apart(), tally)
        else:
            kept = step.keep(index, rows)
            tally.append(Loss(step, rows.bit_count(), kept.bit_count()))
            rows = kept
    return rows


def having_any(index: Index, traits: Iterable[str]) -> RowSet:
    rows = NONE
    for trait in traits:
        rows |= index.with_trait(trait)
    return rows


def in_any(index: Index, aggregates: Iterable[str]) -> RowSet:
    rows = NONE
    for aggregate in aggregates:
        rows |= index.in_aggregate(aggregate)
    return rows


def in_all(index: Index, member_of: Sequence[AnyOf]) -> RowSet:
    """Who is, for each item, in one of its aggregates."""
    rows = index.live
    for aggregates in member_of:
        rows &= in_any(index, aggregates)
    return rows


_MOST_LISTED = 5


def _listed(names: Iterable[str]) -> str:
    """The first few names."""
    known = sorted(names)
    more = len(known) - _MOST_LISTED
    return ", ".join(known[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


@value
class HasTrait:
    """At least one of these traits."""

    any_of: AnyOf
    reason = Reason.TRAIT_MISSING

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & having_any(index, self.any_of)

    def meaning(self) -> str:
        several = "one of the traits" if len(self.any_of) > 1 else "the trait"
        return f"has {several} {_listed(self.any_of)}"


@value
class LacksTraits:
    """None of these traits."""

    traits: frozenset[str]
    reason = Reason.TRAIT_FORBIDDEN

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & ~having_any(index, self.traits)

    def meaning(self) -> str:
        return f"is without the forbidden traits {_listed(self.traits)}"


@value
class MemberOf:
    """For each item, in one of its aggregates. `tree`: it is enough that the root of the tree is."""

    member_of: tuple[AnyOf, ...]
    tree: bool = False
    reason = Reason.NOT_IN_AGGREGATE

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = in_all(index, self.member_of)
        if self.tree:
            members |= index.below(members & ~index.children)
        return rows & members

    def meaning(self) -> str:
        return "is in an aggregate of each member_of: " + "; ".join(
            map(_listed, self.member_of[:_MOST_LISTED])
        )


@value
class NotMemberOf:
    """In none of these aggregates. `tree`: the root of the tree must not be either."""

    aggregates: frozenset[str]
    tree: bool = False
    reason = Reason.IN_FORBIDDEN_AGGREGATE

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        members = in_any(index, self.aggregates)
        if self.tree:
            members |= index.below(members & ~index.children)
        return rows & ~members

    def meaning(self) -> str:
        return f"is outside of the forbidden aggregates {_listed(self.aggregates)}"


@value
class InTree:
    """In the tree whose rows these are."""

    uuid: str
    tree: RowSet
    reason = Reason.NOT_IN_TREE

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & self.tree

    def meaning(self) -> str:
        return f"is in the tree of {self.uuid}"


@value
class Offers:
    """Any inventory of the class."""

    resource_class: str
    reason = Reason.NO_INVENTORY

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.stock(self.resource_class).rows

    def meaning(self) -> str:
        return f"has an inventory of {self.resource_class}"


@value
class Cuts:
    """Units that allow one piece of this size."""

    resource_class: str
    amount: int
    reason = Reason.UNITS

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.stock(self.resource_class).cutting(self.amount)

    def meaning(self) -> str:
        return f"allows {self.resource_class}:{self.amount} by its min_unit, max_unit and step_size"


@value
class Holds:
    """This much left."""

    resource_class: str
    amount: int
    reason = Reason.CAPACITY

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        return rows & index.stock(self.resource_class).holding(self.amount)

    def meaning(self) -> str:
        return f"has {self.resource_class}:{self.amount} free"


@value
class Admits:
    """The capacity rule (`Inventory.admits`), in one step unless somebody wants to know more."""

    resource_class: str
    amount: int

    def keep(self, index: Index, rows: RowSet) -> RowSet:
        stock = index.stock(self.resource_class)
        return rows & stock.cutting(self.amount) & stock.holding(self.amount)

    def told_apart(self) -> tuple[Filter, ...]:
        """So that a tally has inventory, units and capacity one by one."""
        name, amount = self.resource_class, self.amount
        return Offers(name), Cuts(name, amount), Holds(name, amount)


Step: TypeAlias = Filter | Admits

admitting = lru_cache(maxsize=1024)(Admits)
"""The same amounts are asked for again and again."""
