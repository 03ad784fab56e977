# SPDX-License-Identifier: Apache-2.0

"""The cache of collation keys."""

from __future__ import annotations

import tracemalloc
from typing import Any

from plimsoll.storage.dialects.collation import Collation


def weights(_: str, characters: tuple[str, ...]) -> list[Any]:
    """The weights that a database without regard to case would return."""
    return [[f"{ord(character.upper()):04X}" for character in characters]]


def test_keys_of_long_texts_are_not_cached() -> None:
    collation = Collation("utf8mb3_general_ci", "utf8mb3", weights)
    assert collation.key("Host") == collation.key("hOST ")
    tracemalloc.start()
    try:
        for number in range(200):
            collation.key(f"{number}" + "x" * 60_000)
        for number in range(5_000):
            collation.key(f"{number}" + "x" * 500)
        allocated, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert allocated < 8 << 20
