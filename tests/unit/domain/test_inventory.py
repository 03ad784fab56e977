# SPDX-License-Identifier: Apache-2.0

"""The one capacity rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.inventory import MAX_INT, Inventory

amounts = st.integers(1, MAX_INT)


def test_capacity_is_what_is_not_reserved_times_the_ratio() -> None:
    assert Inventory(total=10, reserved=2, allocation_ratio=1.5).capacity == 12


def test_capacity_is_cut_down_to_whole_units() -> None:
    assert Inventory(total=10, allocation_ratio=0.9).capacity == 9
    assert Inventory(total=3, allocation_ratio=0.3333333333).capacity == 0


@pytest.mark.parametrize(("amount", "fits"), [(1, False), (2, True), (3, False), (4, True), (6, False)])
def test_a_piece_must_lie_between_the_units_and_be_a_multiple_of_the_step(amount: int, fits: bool) -> None:
    inventory = Inventory(total=100, min_unit=2, max_unit=4, step_size=2)
    assert inventory.cuts(amount) is fits
    assert inventory.admits(amount, used=0) is fits


@given(amounts, st.integers(0, MAX_INT), amounts, st.floats(0.001, 1000))
def test_nothing_is_admitted_past_the_line(amount: int, used: int, total: int, ratio: float) -> None:
    inventory = Inventory(total=total, allocation_ratio=ratio)
    assert inventory.admits(amount, used) == (used + amount <= total * ratio)


@given(amounts, amounts, st.integers(0, MAX_INT))
def test_what_fits_beside_more_fits_beside_less(amount: int, total: int, used: int) -> None:
    inventory = Inventory(total=total)
    if inventory.admits(amount, used):
        assert inventory.admits(amount, used // 2)
