# SPDX-License-Identifier: Apache-2.0

"""How MySQL and MariaDB compare texts and keep ratios, said again in Python so that memory can decide alike.

A collation gives each character a weight, and takes texts with equal weights for the same. The weights are the
database's own: those of ASCII are asked for together, each other one by itself, when it first occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

Ask = Callable[[str, tuple[str, ...]], list[Any]]
"""Runs a query with parameters, and gives its rows."""

CACHED_KEYS, LONGEST_CACHED = 2_000, 64
"""Keys that are cached, and characters of their texts: a command needs the key of a uuid or a name several times. A key
has at most a few bytes per character, so that the cache takes some MB at most."""

_SPACE = ord(" ")
_ASCII = tuple(map(chr, range(32, 127)))


class Collation:
    def __init__(self, name: str, charset: str, ask: Ask) -> None:
        # Most collations compare as if the shorter text were filled up with spaces.
        self._pads = "_nopad" not in name and "_0900_" not in name
        self._weights = _Weights(name, charset, ask)
        self._cached_key = lru_cache(CACHED_KEYS)(self._key)

    def key(self, text: str) -> str:
        """The same for all texts that the collation takes for the same."""
        return self._cached_key(text) if len(text) <= LONGEST_CACHED else self._key(text)

    def _key(self, text: str) -> str:
        key = text.translate(self._weights)
        if self._pads:
            # Other characters may weigh what a space does.
            space = self._weights[_SPACE]
            while key.endswith(space):
                key = key[: -len(space)]
        return key


class _Weights(dict[int, str]):
    def __init__(self, collation: str, charset: str, ask: Ask) -> None:
        super().__init__()
        self._of_one = f"HEX(WEIGHT_STRING(CONVERT(%s USING {charset}) COLLATE {collation}))"
        self._ask = ask

    def __missing__(self, code: int) -> str:
        asked = _ASCII if 32 <= code < 127 else (chr(code),)
        # A lone surrogate is no character, and no database keeps it.
        sent = tuple(character.encode("utf-8", "replace").decode() for character in asked)
        (weights,) = self._ask(f"SELECT {', '.join([self._of_one] * len(asked))}", sent)
        self.update((ord(character), weight or "") for character, weight in zip(asked, weights, strict=True))
        return self[code]


@lru_cache(64)  # a cloud has few of them
def ratio_in_single_precision(ratio: float) -> float:
    """What is read back: FLOAT keeps 24 bits, and shows six digits of them."""
    return float(f"{np.float32(ratio):.6g}")
