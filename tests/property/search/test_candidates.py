# SPDX-License-Identifier: Apache-2.0

"""The search finds exactly the candidates of the brute-force model, with each combination method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.fast_paths import ALL, FastPaths
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


WITHOUT_VECTORISED = FastPaths.without(["vectorised"])
WITHOUT_SHAPE_MEMO = FastPaths.without(["shape_memo"])


@pytest.fixture(
    params=[
        ("vectorised", 1 << 18, 8, ALL),
        ("width 1", 1 << 18, 1, ALL),
        ("mixed", 12, 1, ALL),
        ("tables too large", 0, 8, ALL),
        ("without shape_memo", 1 << 18, 8, WITHOUT_SHAPE_MEMO),
        ("without vectorised", 1 << 18, 8, WITHOUT_VECTORISED),
    ],
    ids=lambda combination_method: combination_method[0],
    scope="module",
    autouse=True,
)
def paths(request: pytest.FixtureRequest) -> Iterator[FastPaths]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(order, "MAX_PARTIAL", request.param[1])
        patch.setattr(order, "_MIN_WIDTH", request.param[2])
        patch.setattr(order, "_MIN_BATCH", 2)
        patch.setattr(order, "_MAX_BATCH", 2)
        yield request.param[3]


def contents_of(candidate: Candidate) -> tuple[model.Served, model.Mapped]:
    served = dict(candidate.allocations)
    assert len(served) == len(candidate.allocations)
    mapped = dict(candidate.mappings)
    assert len(mapped) == len(candidate.mappings)
    assert all(len(set(uuids)) == len(uuids) for uuids in mapped.values())
    return (
        frozenset((uuid, name, amount) for uuid, given in served.items() for name, amount in given.items()),
        frozenset((suffix, frozenset(uuids)) for suffix, uuids in mapped.items()),
    )


def search(case: Case, order: Order, paths: FastPaths, limit: int | None = None) -> Candidates:
    providers, request = case
    request = replace(request, limit=limit)
    found = find_candidates(world_of(providers), Index.build(providers), request, order, fast_paths=paths)
    assert isinstance(found, Candidates)
    return found


@settings(max_examples=200, deadline=None)
@given(case=cases(), order=orders)
def test_everything_that_fits_is_found_once_and_nothing_else(
    case: Case, order: Order, paths: FastPaths
) -> None:
    world, request = world_of(case[0]), case[1]
    expected = model.candidates(world, request)
    found = search(case, order, paths)
    candidates = [contents_of(candidate) for candidate in found.requests]
    assert set(candidates) == expected
    assert len(candidates) == len(expected)
    summarised_uuids = [provider.uuid for provider in found.providers]
    assert set(summarised_uuids) == model.summarised(world, request, expected)
    assert len(set(summarised_uuids)) == len(summarised_uuids)


@settings(max_examples=100, deadline=None)
@given(case=cases(), order=orders, limit=st.integers(1, 12))
def test_a_limit_bounds_the_candidates_and_their_summaries(
    case: Case, order: Order, limit: int, paths: FastPaths
) -> None:
    world, request = world_of(case[0]), case[1]
    expected = model.candidates(world, request)
    found = search(case, order, paths, limit)
    candidates = {contents_of(candidate) for candidate in found.requests}
    assert candidates <= expected
    assert len(candidates) == len(found.requests) == min(limit, len(expected))
    assert {provider.uuid for provider in found.providers} == model.summarised(world, request, candidates)
