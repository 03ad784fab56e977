# SPDX-License-Identifier: Apache-2.0

"""The largest free amount of a resource class that each host can use."""

from __future__ import annotations

import numpy as np

from plimsoll.search.budget import Budget
from plimsoll.search.index.bitset import Numbers, mask_of, numbers_of
from plimsoll.search.index.index import Index


def best_by_host(index: Index, resource_class: str, free: Numbers, budget: Budget) -> Numbers:
    """Return, by root, the largest free amount of a provider of the host, or of a sharing provider that serves it.

    `free` has the free amount of each row. Hosts without the class have -1.
    """
    column = index.class_column(resource_class)
    best = np.full(index.size, -1, np.int64)
    rows = numbers_of(column.rows, index.size)
    np.maximum.at(best, index.root_by_row()[rows], free[rows])
    for row in numbers_of(column.rows & index.sharing, index.size).tolist():
        budget.pause_if_due()
        served = mask_of(index.anchors(row), index.size)
        best[served] = np.maximum(best[served], free[row])
    return best
