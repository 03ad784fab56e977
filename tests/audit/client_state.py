# SPDX-License-Identifier: Apache-2.0

"""The state of one client: its random generator, the generations it has read, and random request parts.

An action is a generator: it yields a request and receives the operation with the response. It uses only the random
generator and these operations, so the same responses lead to the same requests.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any

from tests.audit import identifiers
from tests.audit.identifiers import Identifiers
from tests.audit.known_generations import KnownGenerations
from tests.audit.operations import Operation, Request

HAN = (0x4E00, 0x9FA0)
"""Characters that are distinct in every database and collation."""

Action = Generator[Request, Operation, None]
Lookup = Generator[Request, Operation, Any]
"""A part of an action: reads something first and returns it."""


class ClientState:
    def __init__(self, rng: random.Random, ids: Identifiers) -> None:
        self.rng = rng
        self.ids = ids
        self.known = KnownGenerations()

    # Random picks

    def pick(self, among: Any) -> Any:
        return self.rng.choice(among)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def provider(self) -> str:
        """Return a host with probability 0.8, else an extra provider."""
        return str(self.pick(self.ids.hosts if self.chance(0.8) else self.ids.extras))

    def name(self) -> str:
        """Return a name that may be taken, or (1 in 10) one with a character that may be new to the services."""
        return f"name-{chr(self.rng.randrange(*HAN))}" if self.chance(0.1) else str(self.pick(self.ids.names))

    def consumer(self) -> str:
        return str(self.pick(self.ids.consumers))

    def resource_class(self) -> str:
        return str(
            self.pick(identifiers.STANDARD_CLASSES if self.chance(0.92) else identifiers.CUSTOM_CLASSES)
        )

    def some(self, among: tuple[str, ...], limit: int) -> list[str]:
        return self.rng.sample(among, self.rng.randint(0, limit))

    # Generations for guarded writes

    def provider_generation(self, uuid: str) -> Lookup:
        """Return the generation just read, or one read earlier, or (7 %) a wrong one."""
        if self.chance(0.6) or uuid not in self.known.provider_generations:
            yield Request("look up provider", "GET", f"/resource_providers/{uuid}")
        generation = self.known.provider_generations.get(uuid, 0)
        return max(0, generation + self.pick((-1, 1))) if self.chance(0.07) else generation

    def consumer_generation(self, uuid: str) -> Lookup:
        if self.chance(0.6) or uuid not in self.known.consumer_generations:
            yield Request("look up consumer", "GET", f"/allocations/{uuid}")
        generation = self.known.consumer_generations.get(uuid)
        if self.chance(0.07):
            return self.pick((None, 1, (generation or 0) + 1))
        return generation

    # Request bodies

    def allocations(self) -> dict[str, Any]:
        """Return random amounts from one to three providers."""
        providers = {self.provider() for _ in range(self.pick((1, 1, 1, 2, 3)))}
        return {uuid: {"resources": self.amounts()} for uuid in sorted(providers)}

    def amounts(self) -> dict[str, int]:
        classes = {self.resource_class() for _ in range(self.pick((1, 2, 2)))}
        return {name: self.rng.randint(1, 4) for name in sorted(classes)}

    def owner(self) -> dict[str, str]:
        return {"project_id": self.pick(identifiers.PROJECTS), "user_id": self.pick(identifiers.USERS)}

    def claim_body(self, allocations: dict[str, Any], generation: int | None) -> dict[str, Any]:
        kind = self.pick(identifiers.TYPES)
        return {
            "allocations": allocations,
            **self.owner(),
            "consumer_generation": generation,
            "consumer_type": kind,
        }

    def inventory(self) -> dict[str, Any]:
        total = self.rng.randint(8, 48)
        figures: dict[str, Any] = {"total": total}
        if self.chance(0.2):
            figures["reserved"] = self.rng.randint(0, total - 1)
        if self.chance(0.2):
            figures["allocation_ratio"] = self.pick((0.5, 1.5, 2.0))
        if self.chance(0.1):
            figures["max_unit"] = self.rng.randint(2, 8)
        if self.chance(0.1):
            figures["step_size"] = 2
        return figures

    def inventories(self) -> dict[str, Any]:
        """Return mostly the three standard classes, so that most claims find their class."""
        names = (
            set(identifiers.STANDARD_CLASSES)
            if self.chance(0.9)
            else set(self.some(identifiers.STANDARD_CLASSES, 3))
        )
        if self.chance(0.3):
            names.add(self.pick(identifiers.CUSTOM_CLASSES))
        return {name: self.inventory() for name in sorted(names)}
