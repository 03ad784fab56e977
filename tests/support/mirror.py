# SPDX-License-Identifier: Apache-2.0

"""A copy of the cloud that is kept up to date by changes alone, as a follower of `/plimsoll/v1/changes` keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_INVENTORY = ("total", "reserved", "min_unit", "max_unit", "step_size", "allocation_ratio")


class Mirror:
    """Providers and consumers by uuid, in the members that changes have."""

    def __init__(self, providers: Iterable[Any] = (), consumers: Iterable[Any] = ()) -> None:
        """Begin with the lists of `/plimsoll/v1/providers` and `/plimsoll/v1/consumers`."""
        self.providers = {each["uuid"]: _provider(each) for each in providers}
        self.consumers = {each["uuid"]: _consumer(each) for each in consumers}

    def apply(self, change: Mapping[str, Any]) -> None:
        assert not change["reload"]
        for each in change["names"]:
            if each["kind"] == "resource_class" and each["before"] and each["after"]:
                self._rename_class(each["before"], each["after"])
        for each in change["providers"]:
            self._apply_provider(each)
        for each in change["consumers"]:
            self._apply_consumer(each)

    def _apply_provider(self, changed: Mapping[str, Any]) -> None:
        uuid, before, after = changed["uuid"], changed["before"], changed["after"]
        held = self.providers.get(uuid)
        assert (before is None) == (held is None), changed
        if held is not None:
            assert _is_part(before, held), (changed, held)
        if after is None:
            del self.providers[uuid]
        elif held is None:
            self.providers[uuid] = dict(after)
        else:
            inventories = {**held["inventories"], **after.get("inventories", {})}
            held |= after
            held["inventories"] = {name: each for name, each in inventories.items() if each is not None}

    def _apply_consumer(self, changed: Mapping[str, Any]) -> None:
        uuid, before, after = changed["uuid"], changed["before"], changed["after"]
        held = self.consumers.get(uuid)
        if held is not None and before is not None:
            assert _is_part(_consumer(before), held), (changed, held)
        if after is None:
            self.consumers.pop(uuid, None)
        else:
            self.consumers[uuid] = {**(held or {}), **_consumer(after)}

    def _rename_class(self, old: str, new: str) -> None:
        for provider in self.providers.values():
            _rename(provider["inventories"], old, new)
        for consumer in self.consumers.values():
            for amounts in consumer["allocations"].values():
                _rename(amounts, old, new)

    def differences(self, other: Mirror) -> list[str]:
        """Return a text for each provider and consumer that is another one in the other copy."""
        return [
            f"{kind} {uuid}: {mine.get(uuid)} instead of {others.get(uuid)}"
            for kind, mine, others in (
                ("provider", self.providers, other.providers),
                ("consumer", self.consumers, other.consumers),
            )
            for uuid in sorted(mine.keys() | others.keys())
            if mine.get(uuid) != others.get(uuid)
        ]


def _rename(by_class: dict[str, Any], old: str, new: str) -> None:
    if old in by_class:
        by_class[new] = by_class.pop(old)


def _is_part(part: Mapping[str, Any], whole: Mapping[str, Any]) -> bool:
    """Whether the whole has these values; None in place of an inventory that it does not have."""
    return all(
        all(whole[name].get(key) == each for key, each in expected.items())
        if name == "inventories"
        else whole[name] == expected
        for name, expected in part.items()
    )


def _provider(shown: Mapping[str, Any]) -> dict[str, Any]:
    members = ("name", "parent", "root", "generation", "aggregates")
    return {name: shown[name] for name in members} | {
        "traits": sorted(shown["traits"]),
        "inventories": {
            name: {field: each[field] for field in _INVENTORY} for name, each in shown["inventories"].items()
        },
    }


def _consumer(shown: Mapping[str, Any]) -> dict[str, Any]:
    members = {name: shown[name] for name in ("project", "user", "type", "generation") if name in shown}
    if "allocations" in shown:
        members["allocations"] = {
            uuid: dict(each["resources"]) for uuid, each in shown["allocations"].items()
        }
    return members
