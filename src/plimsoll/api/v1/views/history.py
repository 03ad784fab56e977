# SPDX-License-Identifier: Apache-2.0

"""Changes of the change log: what was before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.api.v1.times import format_exact_time
from plimsoll.api.v1.views.consumers import UNTYPED
from plimsoll.domain.change_description import Changed, NameChange
from plimsoll.domain.consumer import Allocation
from plimsoll.domain.inventory import Inventory
from plimsoll.http.response import encode_json
from plimsoll.service.changes import ChangePage, DescribedChange, LogBounds

Names = Mapping[str, str]
"""The names of providers by uuid."""


def bounds_members(bounds: LogBounds) -> dict[str, str]:
    """Return the revisions that every answer has."""
    highest = bounds.revision(bounds.head.seq)
    return {"revision": highest, "lowest": bounds.revision(bounds.lowest), "highest": highest}


def page(shown: ChangePage, encoded: Iterable[bytes]) -> bytes:
    """Return the document of a page, with changes that are encoded already."""
    opening = encode_json(bounds_members(shown.bounds))[:-1]
    ending = encode_json({"next": None if shown.next is None else str(shown.next), "more": shown.has_more})
    return b'%b,"changes":[%b],%b' % (opening, b",".join(encoded), ending[1:])


class ChangeEncoder:
    """Encodes changes for callers that may see all projects, or one."""

    def __init__(self, bounds: LogBounds, names: Names, visible_project: str | None) -> None:
        self._bounds = bounds
        self._names = names
        self._visible_project = visible_project

    def __call__(self, described: DescribedChange) -> bytes:
        change, description = described.change, described.description
        actor = change.actor
        is_shown = self._visible_project is None or actor.project == self._visible_project
        return encode_json(
            {
                "revision": self._bounds.revision(change.seq),
                "time": format_exact_time(change.at),
                "request_id": actor.request_id,
                "global_request_id": actor.global_request_id,
                "user": actor.user if is_shown else None,
                "project": actor.project if is_shown else None,
                "operation": change.operation,
                "reload": description.is_reload,
                "providers": [self._provider(each) for each in description.providers.values()],
                "consumers": [self._consumer(each) for each in description.consumers.values()],
                "names": [_name(each) for each in description.names],
            }
        )

    def _provider(self, changed: Changed) -> dict[str, Any]:
        return {
            "uuid": changed.uuid,
            "name": self._names.get(changed.uuid),
            "before": _members(changed.before, _PROVIDER_MEMBERS),
            "after": _members(changed.after, _PROVIDER_MEMBERS),
        }

    def _consumer(self, changed: Changed) -> dict[str, Any]:
        encoders: Mapping[str, Callable[[Any], Any]] = {"type": _type, "allocations": self._allocations}
        return {
            "uuid": changed.uuid,
            "before": _members(changed.before, encoders),
            "after": _members(changed.after, encoders),
        }

    def _allocations(self, allocations: Iterable[Allocation]) -> dict[str, Any]:
        by_provider: dict[str, dict[str, Any]] = {}
        for provider, resource_class, amount in allocations:
            shown = by_provider.setdefault(provider, {"name": self._names.get(provider), "resources": {}})
            resources = shown["resources"]
            resources[resource_class] = resources.get(resource_class, 0) + amount
        return by_provider


def _members(
    side: Mapping[str, Any] | None, encoders: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any] | None:
    if side is None:
        return None
    return {name: encoders[name](value) if name in encoders else value for name, value in side.items()}


def _type(consumer_type: str | None) -> str:
    return consumer_type or UNTYPED


def _inventories(inventories: Mapping[str, Inventory | None]) -> dict[str, Any]:
    return {name: None if each is None else _inventory(each) for name, each in inventories.items()}


def _inventory(inventory: Inventory) -> dict[str, Any]:
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
    }


def _name(change: NameChange) -> dict[str, Any]:
    return {"kind": str(change.kind), "before": change.before, "after": change.after}


_PROVIDER_MEMBERS: Mapping[str, Callable[[Any], Any]] = {
    "inventories": _inventories,
    "traits": sorted,
    "aggregates": sorted,
}
