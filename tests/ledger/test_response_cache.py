# SPDX-License-Identifier: Apache-2.0

"""Responses are cached until the next write, and the cache is bounded."""

from __future__ import annotations

from uuid import uuid4

import pytest

from plimsoll.domain.provider import Provider
from plimsoll.ledger.response_cache import MAX_BYTES, MAX_QUERY_CHARS, ResponseCache
from plimsoll.service import candidates, providers
from plimsoll.service.placement import Placement, Settings
from tests.ledger.conftest import ACTOR

pytestmark = pytest.mark.only_fast_paths


class CountedComputation:
    """Computes a response of this length, and counts the calls."""

    def __init__(self, length: int = 1, *, cacheable: bool = True) -> None:
        self.calls = 0
        self._length = length
        self._cacheable = cacheable

    def __call__(self) -> tuple[bytes, bool]:
        self.calls += 1
        return b"x" * self._length, self._cacheable


def test_the_response_to_the_same_query_is_computed_once() -> None:
    cache, first, other = ResponseCache(), CountedComputation(), CountedComputation()
    assert cache.get_or_compute("a query", "short form", first) is cache.get_or_compute(
        "a query", "short form", first
    )
    cache.get_or_compute("another", "short form", other)
    cache.get_or_compute("a query", "long form", other)
    assert (first.calls, other.calls) == (1, 2)


def test_a_response_that_does_not_fit_is_computed_again() -> None:
    cache, large, small = ResponseCache(), CountedComputation(MAX_BYTES - 1000), CountedComputation(1)
    for _ in range(2):
        assert len(cache.get_or_compute("large", None, large)) == MAX_BYTES - 1000
        assert len(cache.get_or_compute("small", None, small)) == 1
    assert (large.calls, small.calls) == (1, 2)


def test_queries_count_towards_the_bound() -> None:
    cache, nothing = ResponseCache(), CountedComputation(0)
    queries = [f"{number:04}".ljust(MAX_QUERY_CHARS) for number in range(2000)]
    for query in queries * 2:
        cache.get_or_compute(query, None, nothing)
    hits = 4000 - nothing.calls
    assert MAX_BYTES // (MAX_QUERY_CHARS + 1024) < hits < MAX_BYTES // MAX_QUERY_CHARS


def test_a_long_query_is_not_cached() -> None:
    cache, count = ResponseCache(), CountedComputation()
    for _ in range(2):
        cache.get_or_compute("q" * (MAX_QUERY_CHARS + 1), None, count)
    assert count.calls == 2


def test_an_incomplete_response_is_not_cached() -> None:
    cache, partial = ResponseCache(), CountedComputation(cacheable=False)
    for _ in range(2):
        assert cache.get_or_compute("a search that took too long", None, partial) == b"x"
    assert partial.calls == 2


def test_a_response_is_computed_again_after_a_write(placement: Placement, other: Placement) -> None:
    count = CountedComputation()
    for writer in (placement, other):
        for _ in range(2):
            candidates.cached(placement, "a query", None, count)
        uuid = str(uuid4())
        assert isinstance(providers.create(writer, ACTOR, uuid, uuid, None), Provider)
    candidates.cached(placement, "a query", None, count)
    assert count.calls == 3


def test_nothing_is_cached_if_candidates_are_shuffled(placement: Placement) -> None:
    count, shuffling = CountedComputation(), Placement(placement.ledger, Settings(shuffle=True))
    for _ in range(2):
        candidates.cached(shuffling, "a query", None, count)
    assert count.calls == 2


def test_nothing_is_cached_without_room() -> None:
    count, cache = CountedComputation(), ResponseCache(max_bytes=0).empty()
    for _ in range(2):
        cache.get_or_compute("a query", None, count)
    assert count.calls == 2
