# SPDX-License-Identifier: Apache-2.0

"""Find every minimal change of a request that gives candidates; each is checked by a search.

Single changes first: without one condition, with another amount, without a resource class, without a group. If none of
them is enough, two changes together. No result contains the changes of another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, permutations, product
from typing import TypeVar

from plimsoll.domain.values import unhashable_value
from plimsoll.search.budget import BudgetExceeded
from plimsoll.search.index.index import Index
from plimsoll.search.relax.amounts import largest_amount, smallest_larger_amount
from plimsoll.search.relax.changes import (
    Relaxed,
    RequestChange,
    amounts,
    apply,
    is_valid,
    removals,
    with_amount,
    without_class,
    without_group,
)
from plimsoll.search.repeated_search import FoundCount, RepeatedSearch
from plimsoll.search.request import CandidatesRequest, Group

T = TypeVar("T")

MAX_RELAXATIONS = 32
"""Results, at most. The ones with the most hosts are kept."""
MAX_CHANGES = 64
"""Changes of one kind (removals, amounts) that are tried, at most."""
MAX_PAIRED = 12
"""Changes of one kind that are tried together with another one, at most."""


@unhashable_value
class Relaxation:
    """Changes of a request that together give candidates."""

    changes: tuple[RequestChange, ...]
    request: CandidatesRequest
    """The changed request."""
    found: FoundCount


@unhashable_value
class Relaxations:
    """All minimal changes that were found."""

    found: tuple[Relaxation, ...]
    is_complete: bool
    """False if the budget ended before all changes were tried, or if there were too many."""


def relax(search: RepeatedSearch, index: Index, request: CandidatesRequest) -> Relaxations:
    """Return the minimal changes of a request without candidates. Uses up to the whole budget of the search."""
    attempt = _Attempt(search, index, request)
    try:
        attempt.try_single_changes()
        if not attempt.found:
            attempt.try_pairs()
    except BudgetExceeded:
        attempt.is_complete = False
    ordered = sorted(attempt.found, key=lambda each: (len(each.changes), -each.found.hosts))
    return Relaxations(
        tuple(ordered[:MAX_RELAXATIONS]), attempt.is_complete and len(ordered) <= MAX_RELAXATIONS
    )


class _Attempt:
    """The changes tried so far."""

    def __init__(self, search: RepeatedSearch, index: Index, request: CandidatesRequest) -> None:
        self.search = search
        self.index = index
        self.request = request
        self.found: list[Relaxation] = []
        self.is_complete = True
        self.removals = self._first(removals(request))
        self.amounts = self._first(amounts(request))

    def _first(self, items: Iterator[T]) -> list[T]:
        first = list(islice(items, MAX_CHANGES + 1))
        if len(first) > MAX_CHANGES:
            self.is_complete = False
        return first[:MAX_CHANGES]

    def try_single_changes(self) -> None:
        for change in self.removals:
            self._try(change)
        for group, resource_class in self.amounts:
            self._try_amounts(group, resource_class)
        for group in self.request.groups:
            change = without_group(group)
            if not self._is_changed(group.suffix) and is_valid(apply(self.request, change)):
                self._try(change)

    def _try_amounts(self, group: Group, resource_class: str) -> None:
        lower = self._lowered(self.request, group.suffix, resource_class)
        larger = smallest_larger_amount(self.search, self.index, self.request, group, resource_class)
        if lower is not None:
            self._try(lower)
        if larger is not None:
            self._try(with_amount(group, resource_class, larger))
        if lower is None and larger is None and len(group.resources) > 1:
            self._try(without_class(group, resource_class))

    def _is_changed(self, suffix: str) -> bool:
        """Return whether a change was found that is part of the removal of the group."""
        changes = [change for each in self.found for change in each.changes]
        return any(
            change.suffix == suffix
            or change.kind is Relaxed.ISOLATE
            or (change.kind is Relaxed.SAME_SUBTREE and suffix in change.names)
            for change in changes
        )

    def try_pairs(self) -> None:
        first_removals, first_amounts = self.removals[:MAX_PAIRED], self.amounts[:MAX_PAIRED]
        if len(self.removals) > MAX_PAIRED or len(self.amounts) > MAX_PAIRED:
            self.is_complete = False
        for pair in combinations(first_removals, 2):
            if is_valid(apply(self.request, *pair)):
                self._try(*pair)
        for removal, (group, resource_class) in product(first_removals, first_amounts):
            changed = apply(self.request, removal)
            if lower := self._lowered(changed, group.suffix, resource_class):
                self._try(removal, lower)
        for (group, resource_class), other in permutations(first_amounts, 2):
            self._try_two_amounts((group.suffix, resource_class), (other[0].suffix, other[1]))

    def _try_two_amounts(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Lower both amounts: the first as little as possible, then the second as little as that allows."""
        without_other = _without_amount(self.request, *other)
        if without_other is None:
            return
        first = self._lowered(without_other, *one)
        second = first and self._lowered(apply(self.request, first), *other)
        if first and second and not any({first, second} == set(each.changes) for each in self.found):
            self._try(first, second)

    def _lowered(self, request: CandidatesRequest, suffix: str, resource_class: str) -> RequestChange | None:
        group = _group(request, suffix)
        if group is None:
            return None
        amount = largest_amount(self.search, self.index, request, group, resource_class)
        return None if amount is None else with_amount(group, resource_class, amount)

    def _try(self, *changes: RequestChange) -> None:
        """Run the search with these changes, and add them to the result if it finds candidates."""
        changed = apply(self.request, *changes)
        count = self.search.count(self.index, changed)
        if count.candidates:
            self.found.append(Relaxation(changes, changed, count))


def _group(request: CandidatesRequest, suffix: str) -> Group | None:
    return next((group for group in request.groups if group.suffix == suffix), None)


def _without_amount(request: CandidatesRequest, suffix: str, resource_class: str) -> CandidatesRequest | None:
    """Return the request without the class, or without the group if that is its only class."""
    group = _group(request, suffix)
    assert group is not None, "a group of the request"
    change = without_class(group, resource_class) if len(group.resources) > 1 else without_group(group)
    changed = apply(request, change)
    return changed if is_valid(changed) else None
