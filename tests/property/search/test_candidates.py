# SPDX-License-Identifier: Apache-2.0

"""The search finds exactly what trying everything finds, in each of its ways of finding it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.search.combine import order
from plimsoll.search.find import find_candidates
from plimsoll.search.index.index import Index
from plimsoll.search.request import Order
from plimsoll.search.result import Candidate, Candidates
from tests.property.search import model
from tests.property.search.clouds import Case, cases, world_of

orders = st.builds(
    Order,
    strategy=st.sampled_from(["depth-first", "breadth-first"]),
    shuffle_seed=st.one_of(st.none(), st.integers(0, 9)),
)


@pytest.fixture(
    params=[("in bulk", 1 << 18, 8), ("in narrow bulk", 1 << 18, 1), ("partly", 12, 1), ("one by one", 0, 8)],
    ids=lambda way: way[0],
    scope="module",
    autouse=True,
)
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "MOST_PARTIAL", request.param[1])
        patch.setattr(order, "_WIDTH", request.param[2])
        patch.setattr(order, "_BATCH", 2)
        patch.setattr(order, "_BATCH_OF_ALL", 2)
        yield


def said(candidate: Candidate) -> tuple[model.Served, model.Mapped]:
    served = dict(candidate.allocations)
    assert len(served) == len(candidate.allocations)
    mapped = dict(candidate.mappings)
    assert len(mapped) == len(candidate.mappings)
    assert all(len(set(uuids)) == len(uuids) for uuids in mapped.values())
    return (
        frozenset((uuid, name, amount) for uuid, given in served.items() for name, amount in given.items()),
        frozenset((suffix, frozenset(uuids)) for suffix, uuids in mapped.items()),
    )


def search(case: Case, order: Order, limit: int | None = None) -> Candidates:
    providers, request = case
    request = replace(request, limit=limit)
    found = find_candidates(world_of(providers), Index.build(providers), request, order)
    assert isinstance(found, Candidates)
    return found


@settings(max_examples=200, deadline=None)
@given(cases(), orders)
def test_everything_that_fits_is_found_once_and_nothing_else(case: Case, order: Order) -> None:
    world, request = world_of(case[0]), case[1]
    expected = model.candidates(world, request)
    found = search(case, order)
    candidates = [said(candidate) for candidate in found.requests]
    assert set(candidates) == expected
    assert len(candidates) == len(expected)
    shown = [provider.uuid for provider in found.providers]
    assert set(shown) == model.described(world, request, expected)
    assert len(set(shown)) == len(shown)


@settings(max_examples=100, deadline=None)
@given(cases(), orders, st.integers(1, 12))
def test_a_limit_gives_as_many_as_there_are_and_describes_only_those(
    case: Case, order: Order, limit: int
) -> None:
    world, request = world_of(case[0]), case[1]
    expected = model.candidates(world, request)
    found = search(case, order, limit)
    candidates = {said(candidate) for candidate in found.requests}
    assert candidates <= expected
    assert len(candidates) == len(found.requests) == min(limit, len(expected))
    assert {provider.uuid for provider in found.providers} == model.described(world, request, candidates)
