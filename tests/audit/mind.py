# SPDX-License-Identifier: Apache-2.0

"""One client's mind: its dice, what it believes, and how it picks what to ask for.

An action is a generator: it yields a request, and is told what became of it. Its dice and what it was told are
all that it knows, so that the same answers lead to the same requests.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

from tests.audit import words as w
from tests.audit.knowledge import Knowledge
from tests.audit.operations import Operation, Request
from tests.audit.words import Words

HAN = (0x4E00, 0x9FA0)
"""Letters that every database tells apart, whatever its collation."""

Action = Generator[Request, Operation, None]
Look = Generator[Request, Operation, Any]
"""A part of an action, which finds something out."""


class Mind:
    def __init__(self, dice: random.Random, words: Words) -> None:
        self.dice = dice
        self.words = words
        self.knows = Knowledge()

    # Picking

    def pick(self, among: Any) -> Any:
        return self.dice.choice(among)

    def chance(self, likely: float) -> bool:
        return self.dice.random() < likely

    def provider(self) -> str:
        """A host, mostly."""
        return str(self.pick(self.words.hosts if self.chance(0.8) else self.words.extras))

    def name(self) -> str:
        """One that another provider may have; or one with a letter that the services have not met before, perhaps."""
        return (
            f"name-{chr(self.dice.randrange(*HAN))}" if self.chance(0.1) else str(self.pick(self.words.names))
        )

    def consumer(self) -> str:
        return str(self.pick(self.words.consumers))

    def resource_class(self) -> str:
        return str(self.pick(w.STANDARD_CLASSES if self.chance(0.92) else w.CUSTOM_CLASSES))

    def some(self, among: tuple[str, ...], most: int) -> list[str]:
        return self.dice.sample(among, self.dice.randint(0, most))

    # Looking first

    def provider_generation(self, uuid: str) -> Look:
        """Mostly right, sometimes remembered, sometimes plainly wrong."""
        if self.chance(0.6) or uuid not in self.knows.provider_generations:
            yield Request("look at provider", "GET", f"/resource_providers/{uuid}")
        generation = self.knows.provider_generations.get(uuid, 0)
        return max(0, generation + self.pick((-1, 1))) if self.chance(0.07) else generation

    def consumer_generation(self, uuid: str) -> Look:
        if self.chance(0.6) or uuid not in self.knows.consumer_generations:
            yield Request("look at consumer", "GET", f"/allocations/{uuid}")
        generation = self.knows.consumer_generations.get(uuid)
        if self.chance(0.07):
            return self.pick((None, 1, (generation or 0) + 1))
        return generation

    # What is claimed

    def allocations(self) -> dict[str, Any]:
        """Something of one to three providers."""
        providers = {self.provider() for _ in range(self.pick((1, 1, 1, 2, 3)))}
        return {uuid: {"resources": self.amounts()} for uuid in sorted(providers)}

    def amounts(self) -> dict[str, int]:
        classes = {self.resource_class() for _ in range(self.pick((1, 2, 2)))}
        return {name: self.dice.randint(1, 4) for name in sorted(classes)}

    def owner(self) -> dict[str, str]:
        return {"project_id": self.pick(w.PROJECTS), "user_id": self.pick(w.USERS)}

    def claim_body(self, allocations: dict[str, Any], generation: int | None) -> dict[str, Any]:
        kind = self.pick(w.TYPES)
        return {
            "allocations": allocations,
            **self.owner(),
            "consumer_generation": generation,
            "consumer_type": kind,
        }

    def inventory(self) -> dict[str, Any]:
        total = self.dice.randint(8, 48)
        figures: dict[str, Any] = {"total": total}
        if self.chance(0.2):
            figures["reserved"] = self.dice.randint(0, total - 1)
        if self.chance(0.2):
            figures["allocation_ratio"] = self.pick((0.5, 1.5, 2.0))
        if self.chance(0.1):
            figures["max_unit"] = self.dice.randint(2, 8)
        if self.chance(0.1):
            figures["step_size"] = 2
        return figures

    def inventories(self) -> dict[str, Any]:
        """Mostly the three that every host has, so that not all is refused."""
        names = set(w.STANDARD_CLASSES) if self.chance(0.9) else set(self.some(w.STANDARD_CLASSES, 3))
        if self.chance(0.3):
            names.add(self.pick(w.CUSTOM_CLASSES))
        return {name: self.inventory() for name in sorted(names)}
