# SPDX-License-Identifier: Apache-2.0

"""An upper bound on how many instances of a request fit, from the columns alone.

Every instance takes the amounts of each slot from one provider that can serve the slot now. So no host can serve more
instances than the providers of any slot, each filled with this slot alone, can serve.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import NamedTuple

import numpy as np

from plimsoll.search.index.bitset import NONE, Numbers, RowSet, mask_of, numbers_of, rows_of, union
from plimsoll.search.index.index import Index
from plimsoll.search.plan import Plan, allowed_roots, plan_group
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.slots import Slot

MAX_FREE = 1 << 40
"""Larger free amounts, of inventories with an absurd ratio, count as this much, so that sums do not overflow."""


def free_by_row(index: Index, resource_class: str) -> Numbers:
    """Return the free amount of each row; values of rows without the class are undefined."""
    return np.minimum(index.class_column(resource_class).free_by_row(index.size), MAX_FREE)


def upper_bound(search: RepeatedSearch, index: Index, request: CandidatesRequest) -> int:
    """Return a number of instances that cannot be exceeded."""
    parts = _parts(search, index, request)
    anchors = reduce(and_, [part.anchors for part in parts], index.trees.root_rows) if parts else NONE
    slots = [slot for part in parts for slot in part.slots if slot.resources]
    if not anchors:
        return 0
    bounds = list(_bounds(index, slots))
    by_host = np.minimum.reduce([bound.by_host for bound in bounds])[mask_of(anchors, index.size)]
    return min(int(by_host.sum()), *[bound.of_all for bound in bounds])


def _parts(search: RepeatedSearch, index: Index, request: CandidatesRequest) -> list[Plan]:
    """Return the plans of the groups; none if a group has no providers."""
    roots = allowed_roots(search.world, index, request)
    parts: list[Plan] = []
    for group in request.groups:
        search.budget.pause_if_due()
        part = plan_group(search.world, index, group, roots, {}) if isinstance(roots, int) else None
        if not isinstance(part, Plan):
            return []
        parts.append(part)
    return parts


class _Bound(NamedTuple):
    """Bounds on the number of instances."""

    by_host: Numbers
    """By root. MAX_FREE for a host that sharing providers of other trees serve too."""
    of_all: int
    """Of all hosts together: a sharing provider counts once."""


def _bounds(index: Index, slots: list[Slot]) -> Iterator[_Bound]:
    """Yield bounds for each slot alone, and for each class that several slots request."""
    slots_by_class: dict[str, list[Slot]] = {}
    for slot in slots:
        times = np.minimum.reduce(
            [free_by_row(index, name) // amount for name, amount in slot.resources.items()]
        )
        yield _bound(index, [slot], times)
        for name in slot.resources:
            slots_by_class.setdefault(name, []).append(slot)
    for name, several in slots_by_class.items():
        if len(several) > 1:
            amount = sum(slot.resources[name] for slot in several)
            yield _bound(index, several, free_by_row(index, name), amount)


def _bound(index: Index, slots: list[Slot], by_row: Numbers, amount: int = 1) -> _Bound:
    """Add up the numbers of all rows that can serve one of the slots, and divide the sums."""
    own = numbers_of(union(slot.supply.rows for slot in slots), index.size)
    every = numbers_of(union(map(_rows, slots)), index.size)
    by_host = np.zeros(index.size, np.int64)
    np.add.at(by_host, index.root_by_row()[own], by_row[own])
    by_host //= amount
    by_host[mask_of(union(slot.supply.shared_anchors for slot in slots), index.size)] = MAX_FREE
    return _Bound(by_host, int(by_row[every].sum()) // amount)


def _rows(slot: Slot) -> RowSet:
    return slot.supply.rows | rows_of(list(slot.supply.sharing_providers))
