# SPDX-License-Identifier: Apache-2.0

"""Usages: how much a project, or one of its users, uses of what."""

from __future__ import annotations

from collections.abc import Iterable

from plimsoll.ledger import holdings
from plimsoll.service.placement import Placement

ALL = "all"
UNKNOWN = "unknown"
"""What consumers without a type are shown as."""

Usage = tuple[int, dict[str, int]]
"""How many consumers, and what they use by resource class."""


def of_owner(placement: Placement, project: str, user: str | None) -> dict[str, int]:
    return holdings.usage_of_owner(placement.ledger, project, user)


def by_consumer_type(
    placement: Placement, project: str, user: str | None, consumer_type: str | None
) -> dict[str, Usage]:
    """Usage by type: of one type, of all under one key, of consumers without a type, or each by itself."""
    found = holdings.usage_by_type(placement.ledger, project, user)
    if consumer_type == ALL:
        return {ALL: _added((count, used) for _, count, used in found)} if found else {}
    by_type = {UNKNOWN if name is None else name: (count, used) for name, count, used in found}
    if consumer_type is None:
        return by_type
    return {consumer_type: by_type[consumer_type]} if consumer_type in by_type else {}


def _added(usages: Iterable[Usage]) -> Usage:
    consumers_in_all = 0
    used_in_all: dict[str, int] = {}
    for count, used in usages:
        consumers_in_all += count
        for name, amount in used.items():
            used_in_all[name] = used_in_all.get(name, 0) + amount
    return consumers_in_all, used_in_all
