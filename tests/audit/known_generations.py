# SPDX-License-Identifier: Apache-2.0

"""Generations that one client has read from its own responses. Outdated as soon as another client writes."""

from __future__ import annotations

import re

from tests.audit.operations import Completion, Operation

_CONFLICT = re.compile(r"consumer generation conflict - expected (null|\d+) but got")


class KnownGenerations:
    def __init__(self) -> None:
        self.provider_generations: dict[str, int] = {}
        self.consumer_generations: dict[str, int | None] = {}

    def update(self, operation: Operation) -> None:
        if operation.completion is not Completion.RESPONDED or operation.status is None:
            return
        if operation.status >= 400:
            self._update_from_conflict(operation)
            return
        parts, body = operation.request.parts, operation.answer
        if parts[0] == "resource_providers" and isinstance(body, dict):
            self._update_provider(parts, body)
        elif parts[0] == "allocations":
            self._update_consumers(operation)

    def _update_from_conflict(self, operation: Operation) -> None:
        """Read the generation from a conflict: the only source for a consumer without allocations."""
        conflict = _CONFLICT.search(operation.error.get("detail", ""))
        if conflict is not None and operation.request.method == "PUT":
            expected = conflict[1]
            self.consumer_generations[operation.request.parts[1]] = (
                None if expected == "null" else int(expected)
            )

    def _update_provider(self, parts: tuple[str, ...], body: dict[str, object]) -> None:
        for field in ("resource_provider_generation", "generation"):
            generation = body.get(field)
            if isinstance(generation, int):
                uuid = parts[1] if len(parts) > 1 else str(body["uuid"])
                self.provider_generations[uuid] = generation

    def _update_consumers(self, operation: Operation) -> None:
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
