# SPDX-License-Identifier: Apache-2.0

"""Groups of capacity and usage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plimsoll.domain.utilisation import ClassTotals, ProviderTotals
from plimsoll.http.response import encode_json
from plimsoll.service.usage_report import OwnerTotals

Group = tuple[str | None, str | None, ProviderTotals | OwnerTotals]
"""The key of a group, its name if it has one, its sums."""


def groups(several: Sequence[Group]) -> list[bytes]:
    return [encode_json(_group(*each)) for each in several]


def _group(key: str | None, name: str | None, totals: ProviderTotals | OwnerTotals) -> dict[str, Any]:
    shown: dict[str, Any] = {"group": key}
    if name is not None:
        shown["name"] = name
    if isinstance(totals, OwnerTotals):
        used = totals.used
        resources: dict[str, Any] = {each: {"used": used[each]} for each in sorted(used)}
        return shown | {"consumers": totals.consumers, "resources": resources}
    by_class = totals.by_class
    return shown | {
        "providers": totals.providers,
        "resources": {each: _class(by_class[each]) for each in sorted(by_class)},
    }


def _class(totals: ClassTotals) -> dict[str, Any]:
    return {
        "providers": totals.providers,
        "total": totals.total,
        "reserved": totals.reserved,
        "capacity": totals.capacity,
        "used": totals.used,
        "free": totals.free,
        "largest": totals.largest,
        "stranded": totals.stranded,
        "stranded_by": {name: totals.stranded_by[name] for name in sorted(totals.stranded_by)},
    }
