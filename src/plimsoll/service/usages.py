# SPDX-License-Identifier: Apache-2.0

"""Usages: how much a project, or one of its users, uses of what."""

from __future__ import annotations

from plimsoll.domain.usage import CONSUMERS, Sums, added
from plimsoll.service.placement import Placement

ALL = "all"
UNKNOWN = "unknown"
"""What consumers without a type are shown as."""

Usage = tuple[int, dict[str, int]]
"""How many consumers, and what they use by resource class."""


def of_owner(placement: Placement, project: str, user: str | None) -> dict[str, int]:
    _, used = _usage(added(placement.world().usage_by_type(project, user).values()))
    return used


def by_consumer_type(
    placement: Placement, project: str, user: str | None, consumer_type: str | None
) -> dict[str, Usage]:
    """Usage by type: of one type, of all under one key, of consumers without a type, or each by itself."""
    found = placement.world().usage_by_type(project, user)
    if consumer_type == ALL:
        return {ALL: _usage(added(found.values()))} if found else {}
    by_type = {UNKNOWN if name is None else name: _usage(sums) for name, sums in found.items()}
    if consumer_type is None:
        return by_type
    return {consumer_type: by_type[consumer_type]} if consumer_type in by_type else {}


def _usage(sums: Sums) -> Usage:
    used = {name: sums[name] for name in sorted(sums) if name != CONSUMERS}
    return sums.get(CONSUMERS, 0), used
