# SPDX-License-Identifier: Apache-2.0

"""How many instances of a request fit, now and if nothing were in use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plimsoll.domain.refusals import Refusal, SearchAbandoned, SearchTooLong
from plimsoll.domain.values import unhashable_value
from plimsoll.search import copies
from plimsoll.search.budget import Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.find import find_candidates
from plimsoll.search.fit import Fit, fit
from plimsoll.search.repeated_search import MAX_COUNTED, RepeatedSearch, hosts_of
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.search.result import Candidates
from plimsoll.service.placement import Placement

FIT_SECONDS = 1.0
"""The time for filling the cloud, as it is now and as if it were empty, each."""


@unhashable_value
class FitReport:
    """How many instances fit into the cloud as it is, and into the same cloud without any usage."""

    now: Fit
    empty: Fit


def fit_request(
    placement: Placement,
    request: CandidatesRequest,
    pause: Callable[[], None],
    is_client_gone: Callable[[], bool],
    seconds: float | None = None,
) -> FitReport | Refusal:
    """Count the instances of a request, within so many seconds for each of the two clouds.

    A request with unknown names is refused as by the search.
    """
    snapshot, settings = placement.snapshot(), placement.settings
    fit_seconds = FIT_SECONDS if seconds is None else seconds

    def budget(seconds: float) -> Budget:
        return Budget(seconds, clock=time.monotonic, pause=pause, is_cancelled=is_client_gone)

    try:
        search = RepeatedSearch(
            snapshot.world, budget(settings.search_budget), fast_paths=settings.fast_paths
        )
        first = find_candidates(
            snapshot.world,
            snapshot.index,
            replace(request, limit=1),
            Order(),
            search.budget,
            fast_paths=settings.fast_paths,
        )
        if not isinstance(first, Candidates):
            return first
        empty = copies.emptied(snapshot.index)
        found = search.find(empty, request, None if empty.flat else MAX_COUNTED)
        hosts = np.zeros(0, np.int64) if found is None else hosts_of(empty, found)
        fits = []
        for index in (snapshot.index, empty):
            search = RepeatedSearch(snapshot.world, budget(fit_seconds), fast_paths=settings.fast_paths)
            fits.append(fit(search, index, request, hosts))
    except BudgetExceeded:
        return SearchTooLong(settings.search_budget)
    except SearchCancelled:
        return SearchAbandoned()
    return FitReport(*fits)
