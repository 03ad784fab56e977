# SPDX-License-Identifier: Apache-2.0

"""The capacity rule."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.inventory import FIGURES, MAX_INT, Inventory

amounts = st.integers(1, MAX_INT)


def test_capacity_is_the_unreserved_total_times_the_ratio() -> None:
    assert Inventory(total=10, reserved=2, allocation_ratio=1.5).capacity == 12


def test_capacity_is_rounded_down() -> None:
    assert Inventory(total=10, allocation_ratio=0.9).capacity == 9
    assert Inventory(total=3, allocation_ratio=0.3333333333).capacity == 0


@pytest.mark.parametrize(("amount", "fits"), [(1, False), (2, True), (3, False), (4, True), (6, False)])
def test_an_amount_must_be_within_the_units_and_a_multiple_of_the_step(amount: int, fits: bool) -> None:
    inventory = Inventory(total=100, min_unit=2, max_unit=4, step_size=2)
    assert inventory.allows_amount(amount) is fits
    assert inventory.admits(amount, used=0) is fits


@given(amounts, st.integers(0, MAX_INT), amounts, st.floats(0.001, 1000))
def test_no_amount_is_admitted_beyond_the_capacity(amount: int, used: int, total: int, ratio: float) -> None:
    inventory = Inventory(total=total, allocation_ratio=ratio)
    assert inventory.admits(amount, used) == (used + amount <= total * ratio)


@given(amounts, amounts, st.integers(0, MAX_INT))
def test_an_amount_that_fits_with_more_usage_fits_with_less(amount: int, total: int, used: int) -> None:
    inventory = Inventory(total=total)
    if inventory.admits(amount, used):
        assert inventory.admits(amount, used // 2)


@pytest.mark.parametrize(
    ("inventory", "used", "free", "largest"),
    [
        (Inventory(total=10), 4, 6, 6),
        (Inventory(total=10), 12, 0, 0),  # over-full
        (Inventory(total=10, max_unit=3), 0, 10, 3),
        (Inventory(total=10, step_size=4), 0, 10, 8),
        (Inventory(total=10, step_size=4, max_unit=7), 0, 10, 4),
        (Inventory(total=10, min_unit=5), 6, 4, 0),
        (Inventory(total=10, reserved=2, allocation_ratio=1.5), 2, 10, 10),
    ],
)
def test_free_amount_and_largest_claim(inventory: Inventory, used: int, free: int, largest: int) -> None:
    assert (inventory.free(used), inventory.largest(used)) == (free, largest)


@given(
    st.builds(
        Inventory,
        total=st.integers(1, 40),
        reserved=st.integers(0, 10),
        min_unit=st.integers(1, 6),
        max_unit=st.integers(1, 40),
        step_size=st.integers(1, 6),
        allocation_ratio=st.sampled_from([0.5, 1.0, 1.5]),
    ),
    st.integers(0, 50),
)
def test_the_largest_claim_is_the_largest_amount_that_is_admitted(inventory: Inventory, used: int) -> None:
    admitted = [amount for amount in range(1, 100) if inventory.admits(amount, used)]
    assert inventory.largest(used) == max(admitted, default=0)


def test_the_figures_are_the_first_fields_of_an_inventory() -> None:
    assert tuple(field.name for field in fields(Inventory))[: len(FIGURES)] == FIGURES
    figures = Inventory(16, 1, 2, 8, 2, 4.0).figures()
    assert tuple(figures.items()) == tuple(zip(FIGURES, (16, 1, 2, 8, 2, 4.0), strict=True))
