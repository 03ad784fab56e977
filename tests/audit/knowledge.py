# SPDX-License-Identifier: Apache-2.0

"""What one client believes, from the answers that it got itself. It is out of date as soon as another one writes."""

from __future__ import annotations

import re

from tests.audit.operations import Fate, Operation

_CONFLICT = re.compile(r"consumer generation conflict - expected (null|\d+) but got")


class Knowledge:
    def __init__(self) -> None:
        self.provider_generations: dict[str, int] = {}
        self.consumer_generations: dict[str, int | None] = {}

    def learn(self, operation: Operation) -> None:
        if operation.fate is not Fate.ANSWERED or operation.status is None:
            return
        if operation.status >= 400:
            self._learn_from_conflict(operation)
            return
        parts, answer = operation.request.parts, operation.answer
        if parts[0] == "resource_providers" and isinstance(answer, dict):
            self._learn_provider(parts, answer)
        elif parts[0] == "allocations":
            self._learn_consumers(operation)

    def _learn_from_conflict(self, operation: Operation) -> None:
        """The only way to see the generation of a consumer that holds nothing."""
        conflict = _CONFLICT.search(operation.error.get("detail", ""))
        if conflict is not None and operation.request.method == "PUT":
            expected = conflict[1]
            self.consumer_generations[operation.request.parts[1]] = (
                None if expected == "null" else int(expected)
            )

    def _learn_provider(self, parts: tuple[str, ...], answer: dict[str, object]) -> None:
        for field in ("resource_provider_generation", "generation"):
            generation = answer.get(field)
            if isinstance(generation, int):
                uuid = parts[1] if len(parts) > 1 else str(answer["uuid"])
                self.provider_generations[uuid] = generation

    def _learn_consumers(self, operation: Operation) -> None:
        request = operation.request
        if request.method == "GET":
            uuid, generation = request.parts[1], operation.answer.get("consumer_generation")
            if generation is not None or self.consumer_generations.get(uuid) != 0:
                self.consumer_generations[uuid] = generation
        elif request.method == "DELETE":
            self.consumer_generations[request.parts[1]] = None
        else:
            claims = request.body if request.method == "POST" else {request.parts[1]: request.body}
            for uuid, claim in claims.items():
                guard = claim.get("consumer_generation")
                self.consumer_generations[uuid] = (guard or 0) + 1 if claim["allocations"] else None
