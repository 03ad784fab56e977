# SPDX-License-Identifier: Apache-2.0

"""Caches whose keys are texts that clients send: bounded in bytes, not in entries alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

LONGEST_KEY = 1024
"""Characters of a text that is cached. Real clients send shorter ones; a longer text is computed each time."""


def cache_short(entries: int, longest: int = LONGEST_KEY) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function of texts: results for texts of at most `longest` characters are kept in an LRU cache.

    Its arguments are given by position. The keys take at most `entries * longest` characters for each parameter.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=entries)(function)

        def call(*args: Hashable) -> T:
            for each in args:
                if isinstance(each, str) and len(each) > longest:
                    return cached.__wrapped__(*args)
            return cached(*args)

        return cast("Callable[P, T]", call)

    return decorate
