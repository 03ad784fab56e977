# SPDX-License-Identifier: Apache-2.0

"""The fewest items that are enough."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.search.make_room.fewest import MAX_COMBINATIONS, Numbers, enough_of, fewer_than, smaller_ones


class Weights:
    """Items with weights, the heaviest first: enough if their sum reaches a goal."""

    def __init__(self, weights: Sequence[int], goal: int) -> None:
        self.weights = weights
        self.goal = goal
        self.asked: list[Numbers] = []

    def is_enough(self, numbers: Numbers) -> bool:
        self.asked.append(numbers)
        return sum(self.weights[number] for number in numbers) >= self.goal


def test_the_first_items_are_taken_until_they_are_enough() -> None:
    assert enough_of(5, Weights([5, 4, 3, 2, 1], 8).is_enough) == (0, 1)
    assert enough_of(5, Weights([5, 4, 3, 2, 1], 15).is_enough) == (0, 1, 2, 3, 4)
    assert enough_of(5, Weights([5, 4, 3, 2, 1], 16).is_enough) is None
    assert enough_of(0, Weights([], 1).is_enough) is None


def test_items_that_are_not_needed_are_left_out() -> None:
    """Only items 1 and 3 count."""

    def is_enough(numbers: Numbers) -> bool:
        return {1, 3} <= set(numbers)

    assert enough_of(5, is_enough) == (1, 3)


def test_many_items_need_few_questions() -> None:
    weights = Weights([1] * 1000, 3)
    assert enough_of(1000, weights.is_enough) == (0, 1, 2)
    assert len(weights.asked) < 20


def test_fewer_items_are_found_by_trying_all_combinations() -> None:
    """Items 2 and 4 together are enough, or 0, 1 and 3."""

    def is_enough(numbers: Numbers) -> bool:
        return {2, 4} <= set(numbers) or {0, 1, 3} <= set(numbers)

    nothing = [frozenset[int]()] * 5
    assert fewer_than((0, 1, 3), 5, nothing, is_enough, lambda: None) == ((2, 4), True)
    assert fewer_than((2, 4), 5, nothing, is_enough, lambda: None) == ((2, 4), True)


def test_an_item_is_tried_only_with_those_that_are_larger_in_every_respect() -> None:
    weights = Weights([5, 4, 3, 2, 1], 99)
    larger = [frozenset(range(number)) for number in range(5)]
    assert fewer_than((0, 1, 2), 5, larger, weights.is_enough, lambda: None) == ((0, 1, 2), True)
    assert weights.asked == [(0,), (0, 1)]


def test_with_too_many_combinations_it_is_not_certain() -> None:
    size = 200
    assert size * (size - 1) / 2 > MAX_COMBINATIONS
    larger = [frozenset(range(number)) for number in range(size)]
    found = fewer_than((0, 1, 2), size, larger, lambda _: False, lambda: None)
    assert found == ((0, 1, 2), False)


def test_smaller_items_take_the_place_of_large_ones() -> None:
    assert smaller_ones((0,), 5, Weights([9, 7, 5, 2, 1], 4).is_enough) == (2,)
    assert smaller_ones((0, 1), 5, Weights([9, 7, 5, 2, 1], 11).is_enough) == (1, 2)
    assert smaller_ones((0, 1), 2, Weights([9, 7], 11).is_enough) == (0, 1)
