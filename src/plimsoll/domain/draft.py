# SPDX-License-Identifier: Apache-2.0

"""The draft of a decision: the effects so far, and the world after them.

A decision is a function of a draft. It adds effects and returns None, or returns a refusal; the caller discards a
refused draft, so a refusal changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from plimsoll.domain.consumer import EMPTY_HOLDING, Holding
from plimsoll.domain.effects import Effect, GenerationRaised
from plimsoll.domain.refusals import Refusal
from plimsoll.domain.reversal import with_replaced_values
from plimsoll.domain.world import World


class Draft:
    """The world, the holdings of the consumers involved, the time, and the list of effects.

    `holdings` is indexed by the key of the consumer's uuid: see `DatabaseSemantics.key`.
    """

    __slots__ = ("_holdings", "effects", "now", "pause", "world", "worlds_before")

    def __init__(
        self,
        world: World,
        now: datetime,
        holdings: Mapping[str, Holding] | None = None,
        pause: Callable[[], None] = lambda: None,
    ) -> None:
        self.world = world
        self.pause = pause
        """Call it in every loop whose length depends on the request: other requests run during it."""
        self.now = now
        self.effects: list[Effect] = []
        self.worlds_before: list[World] = []
        """The world before each effect."""
        self._holdings = holdings or {}

    def holding(self, consumer: str) -> Holding:
        return self._holdings.get(self.world.semantics.key(consumer), EMPTY_HOLDING)

    def add(self, effect: Effect) -> None:
        effect = with_replaced_values(effect, self.world)
        self.effects.append(effect)
        self.worlds_before.append(self.world)
        self.world = effect.apply(self.world)
        self.pause()

    def raise_generation(self, provider: str) -> None:
        before = self.world.providers[provider]
        self.add(GenerationRaised(provider, before.generation + 1, self.now, before.modified_at))


Decision = Callable[[Draft], Refusal | None]
