# SPDX-License-Identifier: Apache-2.0

"""Plans of moves after which a host serves a request, as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.domain.values import unhashable_value
from plimsoll.domain.world import World
from plimsoll.search.explain.query_text import listed
from plimsoll.search.make_room.move_plans import Move, MovePlan
from plimsoll.service.make_room import MovePlans

_MAX_NAMED = 3
"""Consumers that a text names."""


@unhashable_value
class ShownMovePlans:
    """The plans as a caller may see them: consumers of other projects have neither uuid nor project."""

    move_plans: MovePlans
    world: World
    project: str | None
    """The project whose consumers the caller may see; None: of all projects."""

    def documents(self) -> list[dict[str, Any]]:
        return [self._document(plan) for plan in self.move_plans.found]

    def texts(self) -> Iterator[str]:
        return map(self._text, self.move_plans.found)

    def _document(self, plan: MovePlan) -> dict[str, Any]:
        return {
            "text": self._text(plan),
            "host": self._provider(plan.host),
            "fewest": plan.is_fewest,
            "moves": [self._move(move) for move in plan.moves],
        }

    def _move(self, move: Move) -> dict[str, Any]:
        consumer = self.move_plans.consumers[move.held.consumer]
        is_shown = self._is_shown(move)
        return {
            "consumer": consumer.uuid if is_shown else None,
            "project": consumer.project if is_shown else None,
            "resources": _sum(move.held.amounts),
            "to": [
                {"provider": self._provider(uuid), "resources": dict(amounts)}
                for uuid, amounts in move.to.items()
            ],
        }

    def _is_shown(self, move: Move) -> bool:
        return self.project is None or self.move_plans.consumers[move.held.consumer].project == self.project

    def _provider(self, uuid: str) -> dict[str, str]:
        return {"uuid": uuid, "name": self.world.providers[uuid].name}

    def _text(self, plan: MovePlan) -> str:
        """Return "node-05: move 1 consumer (VCPU 4, MEMORY_MB 8192) to node-02"."""
        count = len(plan.moves)
        named = [
            f"{move.held.consumer} ({_amounts(move)})"
            if self._is_shown(move)
            else f"one with {_amounts(move)}"
            for move in plan.moves[:_MAX_NAMED]
        ]
        more = f" and {count - _MAX_NAMED} more" if count > _MAX_NAMED else ""
        hosts = dict.fromkeys(self._host_of(uuid) for move in plan.moves for uuid in move.to)
        fewest = "" if plan.is_fewest else "; fewer may be enough"
        return (
            f"{self.world.providers[plan.host].name}: move {count} consumer{'' if count == 1 else 's'},"
            f" {', '.join(named)}{more}, to {listed(tuple(hosts))}{fewest}"
        )

    def _host_of(self, uuid: str) -> str:
        return self.world.providers[self.world.providers[uuid].root].name


def _amounts(move: Move) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in _sum(move.held.amounts).items())


def _sum(amounts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for by_class in amounts.values():
        for name, amount in by_class.items():
            total[name] = total.get(name, 0) + amount
    return dict(sorted(total.items()))
