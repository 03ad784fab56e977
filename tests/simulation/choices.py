# SPDX-License-Identifier: Apache-2.0

"""The decisions of one run: drawn from a seed, or replayed."""

from __future__ import annotations

import random
from collections.abc import Mapping


class Choices:
    """Numbered decisions. 0 is always the uneventful one: the same task goes on, nothing fails.

    A run is repeated exactly by its `taken` decisions: those that are not 0, by their numbers.
    """

    def __init__(self, seed: int, replay: Mapping[int, int] | None = None) -> None:
        self._random = random.Random(seed)
        self._replay = replay
        self._count = 0
        self.taken: dict[int, int] = {}

    def pick(self, count: int, probability: float) -> int:
        """Return a number below `count`: with this probability one of those above 0."""
        number = self._count
        self._count += 1
        if self._replay is not None:
            picked = min(self._replay.get(number, 0), count - 1) if probability else 0
        elif count < 2 or self._random.random() >= probability:
            return 0
        else:
            picked = 1 + int(self._random.random() * (count - 1))
        if picked:
            self.taken[number] = picked
        return picked
