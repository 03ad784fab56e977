# SPDX-License-Identifier: Apache-2.0

"""A search ends: when its time is used up, when its client has gone, and when counting shows that nothing fits."""

from __future__ import annotations

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.search.budget import PAUSE_AFTER, Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.combine import backtrack
from plimsoll.search.combine.backtrack import Positions
from plimsoll.search.find import MAX_ENTRIES
from plimsoll.search.request import Group, Order
from plimsoll.search.result import PIECE_ENTRIES
from tests.unit.search.clouds import Cloud, group, host, told


class Clock:
    """Each look at it takes as long as the time between two pauses."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.looks * PAUSE_AFTER


def devices_of(name: str, number: int, has: str) -> list[Provider]:
    return [host(name), *(host(f"{name}-{each:02}", has, parent=name) for each in range(number))]


def groups_of(*amounts: int) -> list[Group]:
    return [group(f"PCI:{amount}", f"_{number}") for number, amount in enumerate(amounts)]


PUZZLE = (*[4] * 10, *[3] * 16)
"""Ten devices of 9 have room for the sum, 88, but not for the parts: every 4 and 3 that share a device waste 2."""


def test_groups_that_do_not_fit_by_counting_are_not_combined() -> None:
    """Two devices of 8 have room for 16, but each takes only one group of 5: 32 devices are too few for 40 groups."""
    cloud = Cloud(*devices_of("h", 32, "PCI:8"))
    clock = Clock()
    budget = Budget(200 * PAUSE_AFTER, clock=clock)
    assert cloud.told(*groups_of(*[5] * 40), group_policy="none", limit=1, budget=budget) == []
    assert len(cloud.told(*groups_of(*[5] * 32), group_policy="none", limit=1)) == 1
    assert clock.looks < 100


def test_counting_refuses_nothing_that_fits() -> None:
    cloud = Cloud(*devices_of("h", 3, "PCI:8"))
    for fits in ([5, 5, 5, 3, 3, 3], [8, 8, 8], [4] * 6, [5, 3, 6, 2, 7, 1], [1] * 24):
        assert len(cloud.told(*groups_of(*fits), group_policy="none", limit=1)) == 1, fits
    for does_not in ([5, 5, 5, 5], [5, 5, 5, 3, 3, 3, 1], [7, 7, 7, 2], [1] * 25):
        assert cloud.told(*groups_of(*does_not), group_policy="none", limit=1) == [], does_not


def test_a_search_that_found_nothing_in_time_says_so() -> None:
    cloud = Cloud(*devices_of("h", 10, "PCI:9"))
    budget = Budget(1000 * PAUSE_AFTER, clock=Clock())
    with pytest.raises(BudgetExceeded):
        cloud.search(*groups_of(*PUZZLE), group_policy="none", limit=1, budget=budget)
    assert budget.is_exceeded


@pytest.mark.parametrize("limit", [2, None])
def test_what_was_found_in_time_is_the_answer(limit: int | None) -> None:
    cloud = Cloud(*devices_of("a", 10, "PCI:9"), *devices_of("b", 1, "PCI:88"))
    budget = Budget(10_000 * PAUSE_AFTER, clock=Clock())
    found = cloud.candidates(*groups_of(*PUZZLE), group_policy="none", limit=limit, budget=budget)
    assert not found.is_complete
    assert {provider.uuid[0] for provider in found.providers} == {"b"}


def test_a_search_that_ends_in_time_is_complete() -> None:
    budget = Budget(100 * PAUSE_AFTER, clock=Clock())
    found = Cloud(host("h", "PCI:2")).candidates(group("PCI:1"), budget=budget)
    assert found.is_complete


def test_a_long_search_pauses_and_ends_when_its_client_has_gone() -> None:
    cloud = Cloud(*devices_of("h", 10, "PCI:9"))
    pauses = []
    budget = Budget(clock=Clock(), pause=lambda: pauses.append(1), is_cancelled=lambda: len(pauses) >= 5)
    with pytest.raises(SearchCancelled):
        cloud.search(*groups_of(*PUZZLE), group_policy="none", limit=1, budget=budget)
    assert len(pauses) == 5


def test_positions_that_lead_nowhere_are_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtrack, "MAX_POSITION_CELLS", 1000)
    positions = Positions()
    kept = []
    for number in range(100):
        positions.add(number, 84)
        kept.append(sum(each in positions for each in range(number + 1)))
        assert number in positions
    assert max(kept) == 10


# Requests without a limit


def test_without_a_limit_there_are_at_most_as_many_as_the_operator_allows() -> None:
    cloud = Cloud(*devices_of("a", 8, "PCI:1"), *devices_of("b", 8, "PCI:1"))
    groups = groups_of(1, 1, 1)
    everything = cloud.candidates(*groups, group_policy="isolate").requests
    assert len(everything) == 2 * 8 * 7 * 6
    for strategy in ("depth-first", "breadth-first"):
        bounded = Order(most_without_limit=100, strategy=strategy)
        found = [
            told(each) for each in cloud.candidates(*groups, group_policy="isolate", order=bounded).requests
        ]
        limited = [
            told(each) for each in cloud.candidates(*groups, group_policy="isolate", limit=100).requests
        ]
        assert found == limited
    enough = Order(most_without_limit=len(everything))
    assert list(cloud.candidates(*groups, group_policy="isolate", order=enough).requests) == list(everything)


def test_single_providers_are_bounded_too() -> None:
    cloud = Cloud(*[host(f"h{number}", "VCPU:1") for number in range(9)])
    assert len(cloud.candidates(group("VCPU:1"), order=Order(most_without_limit=4)).requests) == 4
    assert len(cloud.candidates(group("VCPU:1"), order=Order(most_without_limit=4), limit=6).requests) == 6


def test_the_providers_of_all_candidates_together_are_bounded_even_with_a_limit() -> None:
    """16 isolated groups over 16 devices can be served in 20 trillion ways."""
    cloud = Cloud(*devices_of("h", 16, "PCI:1"))
    groups = groups_of(*[1] * 16)
    for limit in (None, 10**9):
        found = cloud.candidates(*groups, group_policy="isolate", limit=limit).requests
        assert len(found) == MAX_ENTRIES // 16


def test_a_long_answer_is_made_in_pieces() -> None:
    cloud = Cloud(*devices_of("h", 40, "PCI:1"))
    found = cloud.candidates(*groups_of(1, 1, 1), group_policy="isolate").requests
    pieces = list(found.pieces())
    assert len(pieces) == -(-len(found) * 3 // (PIECE_ENTRIES // 3 * 3))
    assert [each for piece in pieces for each in piece] == list(found)
