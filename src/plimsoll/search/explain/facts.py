# SPDX-License-Identifier: Apache-2.0

"""The facts behind a clause about an amount: inventories of the providers at a host, and best values of many hosts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plimsoll.domain.provider import Provider
from plimsoll.search import filters
from plimsoll.search.explain.explanation import InventoryFacts
from plimsoll.search.explain.hosts import Hosts
from plimsoll.search.filters import Part
from plimsoll.search.index.bitset import RowSet, mask_of, numbers_of, rows_of
from plimsoll.search.index.blocks import MAX_CAPACITY

_LOWEST_IS_BEST = filters.AboveMinUnit | filters.MatchesStepSize


def rows_at(hosts: Hosts, host: int) -> list[int]:
    """Return the rows of a host, and of the sharing providers that serve it."""
    index = hosts.index
    own: list[int] = index.trees.members_of_one(host).tolist()
    sharing = numbers_of(index.sharing, index.size).tolist() if index.sharing else []
    hosts.budget.spend(len(sharing))
    return own + [row for row in sharing if hosts.served_by(row) >> host & 1 and row not in own]


def nearest(hosts: Hosts, step: Part, rows: list[int]) -> Provider | None:
    """Return the provider that comes nearest to meeting the clause; None if none has an inventory of the class."""
    name = step.resource_class
    having = [each for each in hosts.index.providers(rows) if name in each.inventories]
    if len(having) < 2:
        return having[0] if having else None
    best = min if isinstance(step, _LOWEST_IS_BEST) else max
    return best(having, key=lambda each: _value(step, facts_of(each, name, 0)))


def facts_of(provider: Provider, resource_class: str, requested: int) -> InventoryFacts:
    inventory, used = provider.inventories[resource_class], provider.used_of(resource_class)
    capacity = min(max(0, inventory.capacity), MAX_CAPACITY)
    return InventoryFacts(
        resource_class=resource_class,
        requested=requested,
        free=capacity - used,
        capacity=capacity,
        shortfall=max(0, requested - (capacity - used)),
        total=inventory.total,
        reserved=inventory.reserved,
        allocation_ratio=inventory.allocation_ratio,
        used=used,
        min_unit=inventory.min_unit,
        max_unit=inventory.max_unit,
        step_size=inventory.step_size,
    )


def _value(step: Part, facts: InventoryFacts) -> int:
    match step:
        case filters.AboveMinUnit():
            return facts.min_unit
        case filters.BelowMaxUnit():
            return facts.max_unit
        case filters.MatchesStepSize():
            return facts.step_size
        case filters.FitsCapacity():
            return facts.capacity
    return facts.free


def best_of(hosts: Hosts, step: Part, concerned: RowSet, at: RowSet) -> int | None:
    """Return the best value of the providers at these hosts, read from the columns: free, capacity or unit."""
    if isinstance(step, filters.HasInventory):
        return None
    index = hosts.index
    rows = index.rows_of_trees(at) & concerned
    for row in numbers_of(concerned & index.sharing, index.size).tolist() if index.sharing else ():
        if hosts.served_by(row) & at:
            rows |= 1 << row
    numbers = numbers_of(rows, index.size)
    if not len(numbers):
        return None
    values = hosts.values_by_row(step)[numbers]
    return int(values.min() if isinstance(step, _LOWEST_IS_BEST) else values.max())


def shortfalls(hosts: Hosts, step: Part, at: RowSet) -> NDArray[np.float64]:
    """Return how much is missing by row, as a part of the amount; 0 at rows that are not in `at`."""
    index = hosts.index
    is_missing = mask_of(at, index.size)
    if isinstance(step, _LOWEST_IS_BEST | filters.HasInventory):
        return is_missing.astype(np.float64)
    values = hosts.values_by_row(step)
    if index.children:
        having = index.class_column(step.resource_class).rows
        rows = numbers_of(index.rows_of_trees(at) & having, index.size)
        best = np.zeros(index.size, np.int64)
        np.maximum.at(best, index.root_by_row()[rows], values[rows])
        values = best
    missing = (step.amount - values) / step.amount
    return np.minimum(np.maximum(missing, 0.0), 1.0) * is_missing


def rows_without_any_inventory(hosts: Hosts) -> RowSet:
    """Return the hosts without any inventory in their tree."""
    having = rows_of([])
    for column in hosts.index.class_columns().values():
        having |= column.rows
    return hosts.all & ~hosts.index.roots_of(having)
