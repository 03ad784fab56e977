# SPDX-License-Identifier: Apache-2.0

"""The token cache: lifetime, bounds, and no tokens in memory."""

from __future__ import annotations

import pytest

from plimsoll.access.tokens import TokenCache


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


TOKEN_DATA = {"token": {"user": {"id": "ada"}}}


def test_a_token_is_cached_for_a_fixed_time(clock: Clock) -> None:
    cache = TokenCache(300, clock=clock)
    assert cache.get("t") is None
    cache.put("t", TOKEN_DATA)
    for _ in range(3):
        clock.now += 99.99
        assert cache.get("t") == TOKEN_DATA
    clock.now += 0.03
    assert cache.get("t") is None
    assert cache.get("another") is None


def test_a_negative_time_disables_the_cache(clock: Clock) -> None:
    cache = TokenCache(-1, clock=clock)
    cache.put("t", TOKEN_DATA)
    assert cache.get("t") is None


def test_zero_means_without_end_as_in_memcached(clock: Clock) -> None:
    cache = TokenCache(0, clock=clock)
    cache.put("t", TOKEN_DATA)
    clock.now += 1e9
    assert cache.get("t") == TOKEN_DATA


def test_the_oldest_tokens_are_dropped(clock: Clock) -> None:
    cache = TokenCache(300, max_tokens=2, clock=clock)
    for token in ("a", "b", "a", "c"):
        cache.put(token, TOKEN_DATA)
        clock.now += 1
    assert [token for token in "abc" if cache.get(token)] == ["a", "c"]


def test_expired_tokens_take_no_memory(clock: Clock) -> None:
    cache = TokenCache(300, clock=clock)
    cache.put("a", TOKEN_DATA)
    clock.now += 301
    cache.put("b", TOKEN_DATA)
    assert len(cache._cache) == 1


def test_only_service_types_of_the_catalog_are_cached_and_the_argument_is_unchanged(clock: Clock) -> None:
    cache = TokenCache(300, clock=clock)
    catalog = [{"type": "placement", "endpoints": [{"url": "http://here"}]}, {"type": "compute"}]
    token_data = {"token": {**TOKEN_DATA["token"], "catalog": catalog}}
    cache.put("t", token_data)
    assert cache.get("t") == {
        "token": {**TOKEN_DATA["token"], "catalog": [{"type": "placement"}, {"type": "compute"}]}
    }
    assert token_data["token"]["catalog"] is catalog


def test_the_cache_contains_no_tokens(clock: Clock) -> None:
    cache = TokenCache(300, clock=clock)
    cache.put("a-very-secret-token", TOKEN_DATA)
    assert "a-very-secret-token" not in repr(cache._cache._values)


def test_the_cache_is_bounded_in_bytes(clock: Clock) -> None:
    cache = TokenCache(300, max_bytes=1_000_000, clock=clock)
    roles = [{"id": "r" * 32, "name": f"role {number}"} for number in range(1_000)]
    for number in range(100):
        cache.put(f"token {number}", {"token": {"user": {"id": "ada"}, "roles": roles}})
        assert cache._cache.size <= 1_000_000
    assert cache.get("token 99") == {"token": {"user": {"id": "ada"}, "roles": roles}}
    assert cache.get("token 0") is None


def test_each_read_returns_a_new_copy(clock: Clock) -> None:
    cache = TokenCache(300, clock=clock)
    cache.put("t", TOKEN_DATA)
    first, second = cache.get("t"), cache.get("t")
    assert first == second
    assert first is not second
