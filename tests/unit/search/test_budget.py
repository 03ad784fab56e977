# SPDX-License-Identifier: Apache-2.0

"""Bounds of a search: its time budget, cancellation, counting before combining, and the size of the result."""

from __future__ import annotations

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.search.budget import PAUSE_AFTER, Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.combine import backtrack
from plimsoll.search.combine.backtrack import DeadEnds
from plimsoll.search.find import MAX_ENTRIES
from plimsoll.search.request import Group, Order
from plimsoll.search.result import PIECE_ENTRIES
from tests.unit.search.clouds import Cloud, allocations_of, group, host


class Clock:
    """A clock that advances by the time between two pauses at each read."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self) -> float:
        self.reads += 1
        return self.reads * PAUSE_AFTER


def devices_of(name: str, number: int, has: str) -> list[Provider]:
    return [host(name), *(host(f"{name}-{each:02}", has, parent=name) for each in range(number))]


def groups_of(*amounts: int) -> list[Group]:
    return [group(f"PCI:{amount}", f"_{number}") for number, amount in enumerate(amounts)]


PUZZLE = (*[4] * 10, *[3] * 16)
"""Ten devices of 9 have room for the sum, 88, but not for the amounts: a 4 and a 3 on one device waste 2."""


def test_groups_that_do_not_fit_by_counting_are_not_combined() -> None:
    """A device with 8 holds only one group of 5: 32 devices are too few for 40 groups, although the sum fits."""
    cloud = Cloud(*devices_of("h", 32, "PCI:8"))
    clock = Clock()
    budget = Budget(200 * PAUSE_AFTER, clock=clock)
    assert cloud.allocations_of(*groups_of(*[5] * 40), group_policy="none", limit=1, budget=budget) == []
    assert len(cloud.allocations_of(*groups_of(*[5] * 32), group_policy="none", limit=1)) == 1
    assert clock.reads < 100


def test_counting_never_rejects_groups_that_fit() -> None:
    cloud = Cloud(*devices_of("h", 3, "PCI:8"))
    for fits in ([5, 5, 5, 3, 3, 3], [8, 8, 8], [4] * 6, [5, 3, 6, 2, 7, 1], [1] * 24):
        assert len(cloud.allocations_of(*groups_of(*fits), group_policy="none", limit=1)) == 1, fits
    for does_not in ([5, 5, 5, 5], [5, 5, 5, 3, 3, 3, 1], [7, 7, 7, 2], [1] * 25):
        assert cloud.allocations_of(*groups_of(*does_not), group_policy="none", limit=1) == [], does_not


def test_a_search_that_found_nothing_in_time_raises_budget_exceeded() -> None:
    cloud = Cloud(*devices_of("h", 10, "PCI:9"))
    budget = Budget(1000 * PAUSE_AFTER, clock=Clock())
    with pytest.raises(BudgetExceeded):
        cloud.search(*groups_of(*PUZZLE), group_policy="none", limit=1, budget=budget)
    assert budget.is_exceeded


@pytest.mark.parametrize("limit", [2, None])
def test_candidates_found_in_time_are_returned_as_incomplete(limit: int | None) -> None:
    cloud = Cloud(*devices_of("a", 10, "PCI:9"), *devices_of("b", 1, "PCI:88"))
    budget = Budget(10_000 * PAUSE_AFTER, clock=Clock())
    found = cloud.candidates(*groups_of(*PUZZLE), group_policy="none", limit=limit, budget=budget)
    assert not found.is_complete
    assert {provider.uuid[0] for provider in found.providers} == {"b"}


def test_a_search_that_ends_in_time_is_complete() -> None:
    budget = Budget(100 * PAUSE_AFTER, clock=Clock())
    found = Cloud(host("h", "PCI:2")).candidates(group("PCI:1"), budget=budget)
    assert found.is_complete


def test_a_long_search_pauses_and_ends_when_it_is_cancelled() -> None:
    cloud = Cloud(*devices_of("h", 10, "PCI:9"))
    pauses = []
    budget = Budget(clock=Clock(), pause=lambda: pauses.append(1), is_cancelled=lambda: len(pauses) >= 5)
    with pytest.raises(SearchCancelled):
        cloud.search(*groups_of(*PUZZLE), group_policy="none", limit=1, budget=budget)
    assert len(pauses) == 5


def test_dead_ends_are_stored_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtrack, "MAX_DEAD_END_CELLS", 1000)
    dead_ends = DeadEnds()
    stored = []
    for number in range(100):
        dead_ends.add(number, 84)
        stored.append(sum(each in dead_ends for each in range(number + 1)))
        assert number in dead_ends
    assert max(stored) == 10


# Requests without a limit


def test_without_a_limit_the_operators_bound_applies() -> None:
    cloud = Cloud(*devices_of("a", 8, "PCI:1"), *devices_of("b", 8, "PCI:1"))
    groups = groups_of(1, 1, 1)
    everything = cloud.candidates(*groups, group_policy="isolate").requests
    assert len(everything) == 2 * 8 * 7 * 6
    for strategy in ("depth-first", "breadth-first"):
        bounded = Order(max_candidates_without_limit=100, strategy=strategy)
        found = [
            allocations_of(each)
            for each in cloud.candidates(*groups, group_policy="isolate", order=bounded).requests
        ]
        limited = [
            allocations_of(each)
            for each in cloud.candidates(*groups, group_policy="isolate", limit=100).requests
        ]
        assert found == limited
    enough = Order(max_candidates_without_limit=len(everything))
    assert list(cloud.candidates(*groups, group_policy="isolate", order=enough).requests) == list(everything)


def test_single_providers_are_bounded_too() -> None:
    cloud = Cloud(*[host(f"h{number}", "VCPU:1") for number in range(9)])
    assert len(cloud.candidates(group("VCPU:1"), order=Order(max_candidates_without_limit=4)).requests) == 4
    assert (
        len(cloud.candidates(group("VCPU:1"), order=Order(max_candidates_without_limit=4), limit=6).requests)
        == 6
    )


def test_the_providers_of_all_candidates_together_are_bounded_even_with_a_limit() -> None:
    """16 isolated groups on 16 devices have 20 trillion candidates."""
    cloud = Cloud(*devices_of("h", 16, "PCI:1"))
    groups = groups_of(*[1] * 16)
    for limit in (None, 10**9):
        found = cloud.candidates(*groups, group_policy="isolate", limit=limit).requests
        assert len(found) == MAX_ENTRIES // 16


def test_a_long_result_is_split_into_pieces() -> None:
    cloud = Cloud(*devices_of("h", 40, "PCI:1"))
    found = cloud.candidates(*groups_of(1, 1, 1), group_policy="isolate").requests
    pieces = list(found.pieces())
    assert len(pieces) == -(-len(found) * 3 // (PIECE_ENTRIES // 3 * 3))
    assert [each for piece in pieces for each in piece] == list(found)
