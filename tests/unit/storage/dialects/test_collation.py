# SPDX-License-Identifier: Apache-2.0

"""The cache of texts that a database compares by its own rules."""

from __future__ import annotations

import tracemalloc
from typing import Any

from plimsoll.storage.dialects.collation import Collation


def weights(_: str, characters: tuple[str, ...]) -> list[Any]:
    return [[f"{ord(character.upper()):04X}" for character in characters]]


def test_long_texts_of_clients_do_not_stay_in_memory() -> None:
    collation = Collation("utf8mb3_general_ci", "utf8mb3", weights)
    assert collation.key("Host") == collation.key("hOST ")
    tracemalloc.start()
    try:
        for number in range(200):
            collation.key(f"{number}" + "x" * 60_000)
        for number in range(5_000):
            collation.key(f"{number}" + "x" * 500)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 8 << 20
