# SPDX-License-Identifier: Apache-2.0

"""Pairs of conditions of a group that providers meet one by one, but never together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from typing import Literal, NamedTuple

from plimsoll.domain.values import value
from plimsoll.search import filters
from plimsoll.search.budget import Budget
from plimsoll.search.index.bitset import RowSet
from plimsoll.search.index.index import Index
from plimsoll.search.relax.changes import Relaxed
from plimsoll.search.request import CandidatesRequest, Group

MAX_CONDITIONS = 12
"""Conditions of a group that are compared with each other, at most."""
MAX_EXCLUSIONS = 16


class Condition(NamedTuple):
    """A required trait or an aggregate, or several of which one is enough."""

    kind: Relaxed
    names: tuple[str, ...]


@value
class Exclusion:
    """Two conditions that are met by some, but never together."""

    suffix: str
    first: Condition
    second: Condition
    by: Literal["host", "provider"]
    """host: no host has providers that meet the one and the other. provider: some hosts do, but no provider alone."""


def exclusions(index: Index, request: CandidatesRequest, budget: Budget) -> tuple[Exclusion, ...]:
    """Return the exclusions of all groups, up to a bound. Raises BudgetExceeded."""
    return tuple(islice(_exclusions(index, request, budget), MAX_EXCLUSIONS))


def _exclusions(index: Index, request: CandidatesRequest, budget: Budget) -> Iterator[Exclusion]:
    for group in request.groups:
        met = list(islice(_conditions(index, group), MAX_CONDITIONS))
        for (one, rows), (other, other_rows) in combinations(met, 2):
            budget.check()
            if not rows or not other_rows or rows & other_rows:
                continue
            if not index.roots_of(rows) & index.roots_of(other_rows):
                yield Exclusion(group.suffix, one, other, "host")
            elif group.one_provider:
                yield Exclusion(group.suffix, one, other, "provider")


def _conditions(index: Index, group: Group) -> Iterator[tuple[Condition, RowSet]]:
    for any_of in dict.fromkeys(group.conditions.required):
        yield (Condition(Relaxed.REQUIRED, tuple(sorted(any_of))), filters.rows_with_any_trait(index, any_of))
    for any_of in dict.fromkeys(group.conditions.member_of):
        yield (
            Condition(Relaxed.MEMBER_OF, tuple(sorted(any_of))),
            filters.rows_in_any_aggregate(index, any_of),
        )
