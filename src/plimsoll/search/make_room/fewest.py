# SPDX-License-Identifier: Apache-2.0

"""Choose the fewest items of a list that are enough, where `is_enough` stays true if items are added."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb

Numbers = tuple[int, ...]
"""Positions in the list."""
IsEnough = Callable[[Numbers], bool]

MAX_COMBINATIONS = 7_000
"""Combinations of one size that are compared, at most: all of 15 items."""
_MAX_REPLACEMENTS = 32
"""Smaller items that are tried in the place of one, at most."""


def enough_of(size: int, is_enough: IsEnough) -> Numbers | None:
    """Return few of the items 0 to `size`, of which none can be left out, or None if not even all are enough.

    Starts with the first items; they should be the largest.
    """
    if not is_enough(tuple(range(size))):
        return None
    low, high = 0, size  # the first `high` items are enough
    while low < high:
        middle = (low + high) // 2
        if is_enough(tuple(range(middle))):
            high = middle
        else:
            low = middle + 1
    chosen = tuple(range(high))
    for item in reversed(chosen):
        rest = tuple(each for each in chosen if each != item)
        if is_enough(rest):
            chosen = rest
    return chosen


def fewer_than(
    chosen: Numbers,
    size: int,
    larger: Sequence[frozenset[int]],
    is_enough: IsEnough,
    spend: Callable[[], None],
) -> tuple[Numbers, bool]:
    """Return the fewest items that are enough, `chosen` or fewer; and whether that is certain.

    `larger` has, for each item, the items that are at least as large in every respect: a combination that has an item
    without those is not tried.
    """
    for count in range(1, len(chosen)):
        if comb(size, count) > MAX_COMBINATIONS:
            return chosen, False
        for some in _without_larger_left(size, count, larger, spend):
            if is_enough(some):
                return some, True
    return chosen, True


def _without_larger_left(
    size: int, count: int, larger: Sequence[frozenset[int]], spend: Callable[[], None]
) -> Iterator[Numbers]:
    for some in combinations(range(size), count):
        spend()
        members = frozenset(some)
        if all(larger[item] <= members for item in some):
            yield some


def smaller_ones(chosen: Numbers, size: int, is_enough: IsEnough) -> Numbers:
    """Replace items by later ones, which are smaller, where that is still enough."""
    for item in chosen:
        others = [each for each in range(size - 1, item, -1) if each not in chosen]
        for other in others[:_MAX_REPLACEMENTS]:
            replaced = tuple(sorted(other if each == item else each for each in chosen))
            if is_enough(replaced):
                chosen = replaced
                break
    return chosen
