# SPDX-License-Identifier: Apache-2.0

"""Providers with everything about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from plimsoll.domain.inventory import Inventory
from plimsoll.domain.provider import Provider
from plimsoll.http.response import encode_json


def provider(one: Provider, revision: str) -> bytes:
    return encode_json({"revision": revision} | {name: show(one) for name, show in MEMBERS.items()})


def _inventories(one: Provider) -> dict[str, Any]:
    return {name: _figures(each, one.used_of(name)) for name, each in one.inventories.items()}


def _figures(inventory: Inventory, used: int) -> dict[str, Any]:
    return {
        "total": inventory.total,
        "reserved": inventory.reserved,
        "min_unit": inventory.min_unit,
        "max_unit": inventory.max_unit,
        "step_size": inventory.step_size,
        "allocation_ratio": inventory.allocation_ratio,
        "capacity": inventory.capacity,
        "used": used,
        "free": inventory.free(used),
        "largest": inventory.largest(used),
    }


def _time(time: datetime | None) -> str | None:
    """Return a time in UTC as RFC 3339. Times without a zone are UTC, as in the database."""
    if time is None:
        return None
    return (time.astimezone(UTC) if time.tzinfo else time).strftime("%Y-%m-%dT%H:%M:%SZ")


MEMBERS: Mapping[str, Callable[[Provider], Any]] = {
    "uuid": lambda one: one.uuid,
    "name": lambda one: one.name,
    "generation": lambda one: one.generation,
    "root": lambda one: one.root,
    "parent": lambda one: one.parent,
    "inventories": _inventories,
    "traits": Provider.listed_traits,
    "aggregates": lambda one: sorted(one.aggregates),
    "updated_at": lambda one: _time(one.modified_at),
}
"""The members of a provider, in the order of the document."""
