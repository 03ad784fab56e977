# SPDX-License-Identifier: Apache-2.0

"""Usages of a project, or of one of its users, by resource class."""

from __future__ import annotations

from plimsoll.domain.usage import CONSUMERS, Sums, added
from plimsoll.service.placement import Placement

ALL = "all"
UNKNOWN = "unknown"
"""The name for consumers without a type."""

Usage = tuple[int, dict[str, int]]
"""The number of consumers, and their usage by resource class."""


def of_owner(placement: Placement, project: str, user: str | None) -> dict[str, int]:
    _, used = _usage(added(placement.world().usage_by_type(project, user).values()))
    return used


def by_consumer_type(
    placement: Placement, project: str, user: str | None, consumer_type: str | None
) -> dict[str, Usage]:
    """Return usage by consumer type: of one type, ALL under one key, UNKNOWN (without a type), or each (None)."""
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
