# SPDX-License-Identifier: Apache-2.0

"""A decision in the making: effects so far, and the world as it is after them.

A decision is a function of a draft. It adds effects and returns None, or returns a refusal; a refused
draft is thrown away, so that a refusal changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from plimsoll.domain.consumer import EMPTY_HOLDING, Holding
from plimsoll.domain.effects import Effect, GenerationRaised
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.world import World


class Draft:
    """The world, the holdings of the consumers concerned, the time, and a place to put effects.

    Holdings are found by the keys of the consumers' uuids: see `Keeping.key`.
    """

    __slots__ = ("_holdings", "effects", "now", "pause", "world", "worlds")

    def __init__(
        self,
        world: World,
        now: datetime,
        holdings: Mapping[str, Holding] | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.world = world
        self.pause = pause
        """To be called at each step of a loop over what a request names: lets other requests run now and then."""
        self.now = now
        self.effects: list[Effect] = []
        self.worlds: list[World] = []
        """The world before each effect."""
        self._holdings = holdings or {}

    def holding(self, consumer: str) -> Holding:
        return self._holdings.get(self.world.keeping.key(consumer), EMPTY_HOLDING)

    def add(self, effect: Effect) -> None:
        self.effects.append(effect)
        self.worlds.append(self.world)
        self.world = effect.apply(self.world)
        self.pause()

    def raise_generation(self, provider: str) -> None:
        generation = self.world.providers[provider].generation
        self.add(GenerationRaised(provider, generation + 1, self.now))


Decision = Callable[[Draft], Refusal | None]
