# SPDX-License-Identifier: Apache-2.0

"""The columns of a class admit the same amounts as the capacity rule, `Inventory.admits`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.search.index import blocks
from plimsoll.search.index.bitset import mask_of
from plimsoll.search.index.blocks import Column
from plimsoll.search.index.class_columns import ClassColumn

SIZE = 40


@pytest.fixture(autouse=True, params=["sparse blocks", "dense blocks"], scope="module")
def small_blocks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Blocks of eight rows, so that a handful of providers fills several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BITS", 3)
        patch.setattr(blocks, "BLOCK", 8)
        patch.setattr(blocks, "SPARSE", 0 if request.param == "dense blocks" else 9)
        yield


def inventories() -> st.SearchStrategy[Inventory]:
    small = st.integers(1, 6)
    ratio = st.sampled_from([1.0, 0.5, 1.5, 0.3333333333, 1e38])
    return st.builds(Inventory, st.integers(1, 12), st.integers(0, 1), small, small, st.integers(1, 3), ratio)


entries = st.dictionaries(st.integers(0, SIZE - 1), st.tuples(inventories(), st.integers(0, 14)))


def admitting(class_column: ClassColumn, amount: int) -> list[int]:
    admitting = class_column.rows_allowing(amount) & class_column.rows_with_free(amount)
    return [row for row in range(SIZE) if admitting >> row & 1]


def allowed(entries: Mapping[int, tuple[Inventory, int]], amount: int) -> list[int]:
    return [row for row, (inventory, used) in sorted(entries.items()) if inventory.admits(amount, used)]


@given(entries, st.integers(1, 8))
def test_columns_admit_what_the_rule_admits(entries: dict[int, tuple[Inventory, int]], amount: int) -> None:
    assert admitting(ClassColumn().replaced(entries), amount) == allowed(entries, amount)


@given(entries, entries, st.sets(st.integers(0, SIZE - 1)), st.integers(1, 6))
def test_replaced_and_removed_inventories_leave_no_trace(
    first: dict[int, tuple[Inventory, int]],
    second: dict[int, tuple[Inventory, int]],
    gone: set[int],
    amount: int,
) -> None:
    class_column = ClassColumn().replaced(first).replaced(second).replaced(dict.fromkeys(gone))
    left = {row: entry for row, entry in {**first, **second}.items() if row not in gone}
    assert admitting(class_column, amount) == allowed(left, amount)
    assert [row for row in range(SIZE) if class_column.rows >> row & 1] == sorted(left)


@given(entries.filter(bool), st.data(), st.integers(1, 6))
def test_a_claim_changes_the_new_column_and_not_the_old_one(
    entries: dict[int, tuple[Inventory, int]], data: st.DataObject, amount: int
) -> None:
    claims = data.draw(st.dictionaries(st.sampled_from(sorted(entries)), st.integers(0, 14)))
    before = ClassColumn().replaced(entries)
    after = before.with_used(claims)
    claimed = {row: (inventory, claims.get(row, used)) for row, (inventory, used) in entries.items()}
    assert admitting(after, amount) == allowed(claimed, amount)
    assert admitting(before, amount) == allowed(entries, amount)


@given(entries.filter(bool), st.data())
def test_cached_rows_are_correct_after_any_claims(
    entries: dict[int, tuple[Inventory, int]], data: st.DataObject
) -> None:
    class_column = ClassColumn().replaced(entries)
    amounts = st.sets(st.integers(1, 4))
    for _ in range(5):
        for amount in data.draw(amounts):
            assert admitting(class_column, amount) == allowed(entries, amount)
        claims = data.draw(st.dictionaries(st.sampled_from(sorted(entries)), st.integers(0, 14)))
        entries = {row: (inventory, claims.get(row, used)) for row, (inventory, used) in entries.items()}
        class_column = class_column.with_used(claims)
    for amount in range(1, 5):
        assert admitting(class_column, amount) == allowed(entries, amount)


@given(entries)
def test_room_is_the_lower_of_free_amount_and_max_unit(entries: dict[int, tuple[Inventory, int]]) -> None:
    class_column = ClassColumn().replaced(entries)
    rows = sorted(entries)
    expected = [min(i.capacity, 1 << 62) - used for i, used in (entries[row] for row in rows)]
    expected = [min(free, entries[row][0].max_unit) for free, row in zip(expected, rows, strict=True)]
    assert [class_column.room(row) for row in rows] == expected
    assert class_column.room_by_row(SIZE)[mask_of(class_column.rows, SIZE)].tolist() == expected


def test_an_amount_beyond_all_bounds_is_admitted_by_no_provider() -> None:
    class_column = ClassColumn().replaced({3: (Inventory(MAX_INT, step_size=2, allocation_ratio=3e38), 0)})
    assert admitting(class_column, 2) == [3]
    for amount in (MAX_INT + 1, 1 << 63, 10**30):
        assert admitting(class_column, amount) == []


def test_a_changed_column_is_complete_and_the_old_one_is_unchanged() -> None:
    first = Column().replaced({0: 5, 9: 7})
    second = first.replaced({9: 8, 20: 1})
    assert first.whole().tolist()[:10] == [5, 0, 0, 0, 0, 0, 0, 0, 0, 7]
    assert [second.whole().tolist()[row] for row in (0, 9, 20)] == [5, 8, 1]
    assert Column().whole().tolist() == []


def test_a_provider_with_negative_capacity_keeps_its_row() -> None:
    """A reshape may reserve more than the total; the usage can still be released."""
    negative_capacity = Inventory(total=1, reserved=2)
    class_column = ClassColumn().replaced({0: (negative_capacity, 1), 1: (Inventory(total=5), 5)})
    released = class_column.with_used({0: 0})
    assert released.room(1) == 0
    assert not released.rows_with_free(1)
