# SPDX-License-Identifier: Apache-2.0

"""Caches whose keys clients choose: bounded in entries and in bytes."""

from __future__ import annotations

import random
import sys
import threading

import pytest

from plimsoll.bounded_cache import BoundedCache, bounded_cache, deep_size


def test_a_stored_value_is_found_under_an_equal_key() -> None:
    cache: BoundedCache[tuple[str, ...], int] = BoundedCache(10, 10_000)
    cache.put(("a", "b"), 1)
    assert cache.get(("a", "b")) == 1
    assert cache.get(("a",)) is None


def test_the_oldest_entry_is_dropped_first() -> None:
    cache: BoundedCache[str, int] = BoundedCache(3, 10_000)
    for number, key in enumerate("abc"):
        cache.put(key, number)
    cache.put("a", 7)  # stored again, so that b is the oldest one
    cache.put("d", 3)
    assert [cache.get(key) for key in "abcd"] == [7, None, 2, 3]
    assert len(cache) == 3


def test_bytes_are_bounded_whatever_is_stored() -> None:
    cache: BoundedCache[str, str] = BoundedCache(1_000_000, 100_000, max_key_bytes=2_000)
    numbers = random.Random(18)
    for number in range(5_000):
        cache.put(f"{number % 700} " + "k" * numbers.randrange(3_000), "v" * numbers.randrange(120_000))
        assert cache.size <= 100_000
    assert len(cache) > 0


def test_a_long_key_is_not_stored() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10, 1_000_000, max_key_bytes=1_000)
    cache.put("k" * 1_001, 1)
    assert len(cache) == 0


def test_a_value_that_exceeds_the_whole_cache_is_not_stored_and_drops_nothing_but_its_predecessor() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, 10_000)
    cache.put("a", "1")
    cache.put("b", "2")
    cache.put("b", "v" * 10_000)
    assert cache.get("a") == "1"
    assert cache.get("b") is None


def test_the_oldest_entries_are_dropped_up_to_the_first_that_does_not_meet_the_condition() -> None:
    cache: BoundedCache[str, int] = BoundedCache(10, 10_000)
    for key, value in (("a", 1), ("b", 2), ("c", 5), ("d", 1)):
        cache.put(key, value)
    cache.drop_oldest_while(lambda value: value < 3)
    assert [cache.get(key) for key in "abcd"] == [None, None, 5, 1]
    cache.drop_oldest_while(lambda value: True)
    assert (len(cache), cache.size) == (0, 0)


def test_threads_that_store_together_keep_the_count_of_bytes_right() -> None:
    cache: BoundedCache[int, str] = BoundedCache(50, 20_000)

    def store(seed: int) -> None:
        numbers = random.Random(seed)
        for _ in range(3_000):
            cache.put(numbers.randrange(200), "v" * numbers.randrange(500))
            cache.drop_oldest_while(lambda value: len(value) < 250)

    threads = [threading.Thread(target=store, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cache.drop_oldest_while(lambda _: True)
    assert (len(cache), cache.size) == (0, 0)


def test_a_function_computes_an_equal_call_once_even_when_its_result_is_none() -> None:
    calls: list[str] = []

    @bounded_cache(10, 10_000)
    def compute(text: str) -> None:
        calls.append(text)

    assert [compute("a"), compute("a"), compute("b")] == [None, None, None]
    assert calls == ["a", "b"]


def test_a_function_that_raises_is_called_again() -> None:
    calls: list[str] = []

    @bounded_cache(10, 10_000)
    def compute(text: str) -> int:
        calls.append(text)
        return int(text)

    for _ in range(2):
        with pytest.raises(ValueError, match="x"):
            compute("x")
    assert calls == ["x", "x"]


def test_results_count_by_the_size_that_the_caller_states() -> None:
    calls: list[int] = []

    @bounded_cache(1_000, 10_000, size_of=lambda _: 4_000)
    def compute(number: int) -> object:
        calls.append(number)
        return object()

    for number in (1, 2, 3, 3, 1):
        compute(number)
    assert calls == [1, 2, 3, 1]  # two entries fit


def test_the_size_of_plain_data_includes_all_that_it_contains() -> None:
    text = "t" * 10_000
    for value in ((text, None), [[text]], {"a": {"b": text}}, {text: 1}, frozenset({text})):
        assert sys.getsizeof(text) < deep_size(value) < sys.getsizeof(text) + 2_000
