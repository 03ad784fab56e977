# SPDX-License-Identifier: Apache-2.0

"""A copy of an index equals an index that is built from providers with the changed usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import Provider
from plimsoll.search import copies
from plimsoll.search.index import blocks
from plimsoll.search.index.index import Index
from tests.property.search.clouds import CLASSES, Case, cases

randoms = st.randoms(use_true_random=True)


@pytest.fixture(autouse=True, params=[0, 9], ids=["dense", "sparse"], scope="module")
def small_blocks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Use blocks of four rows, in dense and sparse form."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("BLOCK_BITS", 2), ("BLOCK", 4), ("SPARSE", request.param)):
            patch.setattr(blocks, name, value)
        yield


def admitting(index: Index) -> dict[tuple[str, int], int]:
    """Return the rows that admit each amount of each class."""
    return {
        (name, amount): column.rows & column.rows_allowing(amount) & column.rows_with_free(amount)
        for name in CLASSES
        for column in [index.class_column(name)]
        for amount in range(1, 12)
    }


def rebuilt(providers: Iterable[Provider], used: dict[str, dict[str, int]]) -> Index:
    return Index.build([replace(each, used=used.get(each.uuid, {})) for each in providers])


def some_of_the_usage(providers: Iterable[Provider], random: Random) -> dict[str, dict[str, int]]:
    return {
        each.uuid: {name: random.randint(0, used) for name, used in each.used.items()} for each in providers
    }


@settings(max_examples=100, deadline=None)
@given(case=cases())
def test_an_emptied_cloud_has_the_inventories_and_no_usage(case: Case) -> None:
    index = Index.build(case[0])
    before = admitting(index)
    assert admitting(copies.emptied(index)) == admitting(rebuilt(case[0], {}))
    assert admitting(index) == before


@settings(max_examples=100, deadline=None)
@given(case=cases(), random=randoms)
def test_amounts_taken_away_are_free_in_the_copy_alone(case: Case, random: Random) -> None:
    providers = case[0]
    index = Index.build(providers)
    before = admitting(index)
    gone = some_of_the_usage(providers, random)
    left = {
        each.uuid: {name: used - gone[each.uuid][name] for name, used in each.used.items()}
        for each in providers
    }
    copy = copies.without(index, {**gone, "unknown": {"VCPU": 1}})
    assert admitting(copy) == admitting(rebuilt(providers, left))
    assert admitting(index) == before
    assert admitting(copies.claimed(copy, gone)) == before


@settings(max_examples=100, deadline=None)
@given(case=cases(), random=randoms)
def test_rows_with_nothing_free_admit_nothing(case: Case, random: Random) -> None:
    index = Index.build(case[0])
    rows = random.getrandbits(index.size) & index.live
    expected = {key: admitted & ~rows for key, admitted in admitting(index).items()}
    assert admitting(copies.with_nothing_free(index, rows)) == expected
