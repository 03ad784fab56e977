# SPDX-License-Identifier: Apache-2.0

"""How MySQL and MariaDB compare texts and store ratios, in Python, so that decisions in memory agree with SQL.

A collation gives each character a weight; texts with the same weights are equal. The weights are read from the
database: those of all ASCII characters in one query, any other one when it first occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

RunQuery = Callable[[str, tuple[str, ...]], list[Any]]
"""Runs a query with parameters and returns its rows."""

CACHED_KEYS, MAX_CACHED_LENGTH = 2_000, 64
"""Number of cached keys, and characters of their texts: a command needs the key of a uuid or a name several times.
A key has at most a few bytes per character, so the cache takes some MB at most."""

_SPACE = ord(" ")
_ASCII = tuple(map(chr, range(32, 127)))


class Collation:
    def __init__(self, name: str, charset: str, run_query: RunQuery) -> None:
        # Most collations compare as if the shorter text were padded with spaces.
        self._pads = "_nopad" not in name and "_0900_" not in name
        self._weights = _Weights(name, charset, run_query)
        self._cached_key = lru_cache(CACHED_KEYS)(self._key)

    def key(self, text: str) -> str:
        """Return a key that is the same for all texts that are equal in the collation."""
        return self._cached_key(text) if len(text) <= MAX_CACHED_LENGTH else self._key(text)

    def _key(self, text: str) -> str:
        key = text.translate(self._weights)
        if self._pads:
            # Other characters may have the weight of a space.
            space = self._weights[_SPACE]
            while key.endswith(space):
                key = key[: -len(space)]
        return key


class _Weights(dict[int, str]):
    """The weight of each character, by code point: a table for `str.translate` that is filled when it is used."""

    def __init__(self, collation: str, charset: str, run_query: RunQuery) -> None:
        super().__init__()
        self._expression = f"HEX(WEIGHT_STRING(CONVERT(%s USING {charset}) COLLATE {collation}))"
        self._run_query = run_query

    def __missing__(self, code: int) -> str:
        characters = _ASCII if 32 <= code < 127 else (chr(code),)
        # A lone surrogate is not a character, and no database can store it.
        sent = tuple(character.encode("utf-8", "replace").decode() for character in characters)
        (weights,) = self._run_query(f"SELECT {', '.join([self._expression] * len(characters))}", sent)
        for character, weight in zip(characters, weights, strict=True):
            # One character per byte takes half of the memory of hexadecimal digits.
            self[ord(character)] = bytes.fromhex(weight or "").decode("latin-1")
        return self[code]


@lru_cache(64)  # a cloud has few different ratios
def ratio_in_single_precision(ratio: float) -> float:
    """Return a ratio as it is read back from a FLOAT column, which stores 24 bits and shows six digits of them."""
    return float(f"{np.float32(ratio):.6g}")
