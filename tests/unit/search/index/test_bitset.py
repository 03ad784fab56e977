# SPDX-License-Identifier: Apache-2.0

"""Conversions between row sets, masks and arrays of row numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.search.index.bitset import mask_of, masks_at, numbers_of, rows_of, rows_of_mask, rows_of_numbers


@given(st.sets(st.integers(0, 199)))
def test_all_forms_of_a_set_hold_the_same_rows(numbers: set[int]) -> None:
    rows = rows_of(numbers)
    assert rows.bit_count() == len(numbers)
    assert numbers_of(rows, 200).tolist() == sorted(numbers)
    assert rows_of_mask(mask_of(rows, 200)) == rows
    assert rows_of_numbers(np.array(sorted(numbers), np.int64), 200) == rows


@given(st.lists(st.sets(st.integers(0, 49)), min_size=1), st.lists(st.integers(0, 50), max_size=6))
def test_several_sets_are_tested_for_some_rows_at_once(sets: list[set[int]], rows_tested: list[int]) -> None:
    found = masks_at([rows_of(numbers) for numbers in sets], np.array([rows_tested], np.int64), 50)
    assert found.tolist() == [[[number in numbers for number in rows_tested]] for numbers in sets]


def test_an_empty_set_has_no_rows() -> None:
    assert numbers_of(0, 0).tolist() == []
    assert rows_of([]) == 0
