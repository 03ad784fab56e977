# SPDX-License-Identifier: Apache-2.0

"""Joining by tree shape finds the same choices, in the same order, as joining every tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.domain.provider import Provider
from plimsoll.search.budget import Budget
from plimsoll.search.combine import memo
from plimsoll.search.combine.memo import join_by_shape, join_each
from plimsoll.search.find import _plan
from plimsoll.search.index.bitset import numbers_of
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan
from tests.property.search.clouds import Case, device_case, random_case, world_of


@pytest.fixture(autouse=True, params=[0, 64], ids=["many new shapes", "few new shapes"], scope="module")
def new_shapes(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memo, "_MAX_NEW_SHAPES", request.param)
        yield


def repeat_trees(case: Case, random: Random) -> Case:
    """Copy the trees several times, so that many have the same shape, some with other usages."""
    providers, request = case
    made: list[Provider] = []
    for copy in range(random.randint(1, 4)):
        for each in providers:
            other = dict.fromkeys(each.inventories, 1) if random.random() < 0.1 else each.used
            made.append(
                replace(
                    each,
                    id=len(made) + 1,
                    uuid=f"{each.uuid}.{copy}",
                    name=f"{each.name}.{copy}",
                    root=f"{each.root}.{copy}",
                    parent=each.parent and f"{each.parent}.{copy}",
                    used=other,
                    aggregates=frozenset(),
                )
            )
    if random.random() < 0.5:  # interleave the rows of different trees
        random.shuffle(made)
        made = [replace(each, id=number) for number, each in enumerate(made, 1)]
    return made, request


def cases() -> st.SearchStrategy[Case]:
    seeded = st.randoms(use_true_random=True)
    plain = st.one_of(st.builds(random_case, seeded), st.builds(device_case, seeded))
    return st.builds(repeat_trees, plain, seeded)


@settings(max_examples=200, deadline=None)
@given(cases(), st.one_of(st.none(), st.integers(1, 8)), st.sampled_from([5, 40, 1 << 18]))
def test_joining_by_shape_gives_the_same_choices(case: Case, width: int | None, most: int) -> None:
    providers, request = case
    index = Index.build(providers)
    plan = _plan(world_of(providers), index, request, Budget())
    if not isinstance(plan, Plan):
        return
    anchors = numbers_of(plan.anchors, index.size)
    expected = join_each(index, plan, anchors, width, most, Budget())
    for _ in range(2):  # the second time from the cache
        found = join_by_shape(index, plan, anchors, width, most, Budget())
        if expected is None:
            assert found is None
            continue
        assert found is not None
        assert np.array_equal(found.choices, expected.choices)
        assert np.array_equal(found.tree, expected.tree)
        assert np.array_equal(found.truncated, expected.truncated)
