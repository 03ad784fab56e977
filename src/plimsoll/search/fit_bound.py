# SPDX-License-Identifier: Apache-2.0

"""An upper bound on how many instances of a request fit, from the columns alone.

Every instance takes the amounts of each slot from one provider that can serve the slot now. So no host can serve more
instances than the providers of any slot, each filled with this slot alone, can serve.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from plimsoll.search.index.bitset import Numbers, RowSet, numbers_of, rows_of, union
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
    slots = _slots(search, index, request)
    if not slots:
        return 0
    host_by_row = index.root_by_row()
    if any(slot.supply.sharing_providers for slot in slots):
        # A sharing provider serves several hosts, so that only the sums over all hosts are bounds.
        host_by_row = np.zeros_like(host_by_row)
    return int(np.minimum.reduce(list(_bounds_by_host(index, slots, host_by_row))).sum())


def _slots(search: RepeatedSearch, index: Index, request: CandidatesRequest) -> list[Slot]:
    """Return the slots with resources; none if a group has no providers."""
    roots = allowed_roots(search.world, index, request)
    slots: list[Slot] = []
    for group in request.groups:
        search.budget.pause_if_due()
        part = plan_group(search.world, index, group, roots, {}) if isinstance(roots, int) else None
        if not isinstance(part, Plan):
            return []
        slots += [slot for slot in part.slots if slot.resources]
    return slots


def _bounds_by_host(index: Index, slots: list[Slot], host_by_row: Numbers) -> Iterator[Numbers]:
    """Yield upper bounds by host: for each slot alone, and for each class that several slots request."""
    slots_by_class: dict[str, list[Slot]] = {}
    for slot in slots:
        rows = numbers_of(_rows(slot), index.size)
        yield _by_host(host_by_row[rows], _times(index, slot, rows), index.size)
        for name in slot.resources:
            slots_by_class.setdefault(name, []).append(slot)
    for name, several in slots_by_class.items():
        if len(several) > 1:
            rows = numbers_of(union(map(_rows, several)), index.size)
            free = free_by_row(index, name)[rows]
            yield _by_host(host_by_row[rows], free, index.size) // sum(
                slot.resources[name] for slot in several
            )


def _rows(slot: Slot) -> RowSet:
    return slot.supply.rows | rows_of(list(slot.supply.sharing_providers))


def _times(index: Index, slot: Slot, rows: Numbers) -> Numbers:
    """Return how often each row can serve the slot."""
    times: Numbers = np.minimum.reduce(
        [free_by_row(index, name)[rows] // amount for name, amount in slot.resources.items()]
    )
    return times


def _by_host(hosts: Numbers, numbers: Numbers, size: int) -> Numbers:
    sums = np.zeros(size, np.int64)
    np.add.at(sums, hosts, numbers)
    return sums
