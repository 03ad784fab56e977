# SPDX-License-Identifier: Apache-2.0

"""Changes of the change log, as JSON and as server-sent events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plimsoll.api.v1.times import format_exact_time
from plimsoll.api.v1.views.consumers import UNTYPED
from plimsoll.bounded_cache import BoundedCache
from plimsoll.domain.change_description import ChangedEntity, NameChange
from plimsoll.domain.consumer import Allocation
from plimsoll.domain.inventory import Inventory
from plimsoll.http.response import encode_json
from plimsoll.service.change_feed import StreamEnd
from plimsoll.service.changes import ChangePage, Cursor, DescribedChange, LogBounds, names_of
from plimsoll.service.placement import Placement

MAX_CACHED_BYTES = 4 << 20
"""Size of the events in memory."""
RECONNECT_MILLISECONDS = 1_000
"""After which a client connects again when a stream has ended."""

Names = Mapping[str, str]
"""The names of providers by uuid."""


def bounds_members(bounds: LogBounds) -> dict[str, str]:
    """Return the revisions that every response has."""
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
                "cursor": str(described.cursor(self._bounds.epoch)),
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

    def _provider(self, changed: ChangedEntity) -> dict[str, Any]:
        return {
            "uuid": changed.uuid,
            "name": self._names.get(changed.uuid),
            "before": _members(changed.before, _PROVIDER_MEMBERS),
            "after": _members(changed.after, _PROVIDER_MEMBERS),
        }

    def _consumer(self, changed: ChangedEntity) -> dict[str, Any]:
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


class EventEncoder:
    """Encodes the items of a stream as server-sent events. The first piece has the time after which a client connects again."""

    def __init__(self, placement: Placement, visible_project: str | None) -> None:
        self._placement = placement
        self._visible_project = visible_project
        self._opening = b"retry: %d\n\n" % RECONNECT_MILLISECONDS

    def __call__(self, item: ChangePage | StreamEnd) -> bytes:
        opening, self._opening = self._opening, b""
        if isinstance(item, StreamEnd):
            data = {"reason": str(item.reason), "next": str(item.cursor), **bounds_members(item.bounds)}
            return opening + _event("end", item.cursor, encode_json(data))
        if item.changes:
            return opening + b"".join(self._changes(item))
        assert item.next is not None
        data = {**bounds_members(item.bounds), "next": str(item.next)}
        return opening + _event("position", item.next, encode_json(data))

    def _changes(self, page: ChangePage) -> list[bytes]:
        epoch, project = page.bounds.epoch, self._visible_project
        keys = [f"{epoch}:{each.change.seq}:{each.mark}:{project or ''}" for each in page.changes]
        events = [_events.get(key) for key in keys]
        if None in events:
            names = names_of(self._placement.ledger.newest.world, page.changes)
            encode = ChangeEncoder(page.bounds, names, project)
            for at, (key, each) in enumerate(zip(keys, page.changes, strict=True)):
                if events[at] is None:
                    events[at] = event = _event("change", each.cursor(epoch), encode(each))
                    _events.put(key, event)
        return [each for each in events if each is not None]


_events: BoundedCache[str, bytes] = BoundedCache(4_096, MAX_CACHED_BYTES)
"""The last events: all subscribers that may see the same get the same bytes."""


def _event(kind: str, cursor: Cursor, data: bytes) -> bytes:
    return b"event: %b\nid: %b\ndata: %b\n\n" % (kind.encode(), str(cursor).encode(), data)


def _members(
    side: Mapping[str, Any] | None, encoders: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any] | None:
    if side is None:
        return None
    return {name: encoders[name](value) if name in encoders else value for name, value in side.items()}


def _type(consumer_type: str | None) -> str:
    return consumer_type or UNTYPED


def _inventories(inventories: Mapping[str, Inventory | None]) -> dict[str, Any]:
    return {name: None if each is None else each.figures() for name, each in inventories.items()}


def _name(change: NameChange) -> dict[str, Any]:
    return {"kind": str(change.kind), "before": change.before, "after": change.after}


_PROVIDER_MEMBERS: Mapping[str, Callable[[Any], Any]] = {
    "inventories": _inventories,
    "traits": sorted,
    "aggregates": sorted,
}
