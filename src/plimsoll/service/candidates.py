# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates: the search on the current snapshot, within its budget."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Hashable
from dataclasses import replace

from plimsoll.domain.refusals import Refusal, SearchAbandoned, SearchTooLong
from plimsoll.ledger.response_cache import Compute
from plimsoll.ledger.snapshot import Snapshot
from plimsoll.metrics import Metrics
from plimsoll.search.budget import Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.explain.explain import reason_of_none
from plimsoll.search.find import find_candidates
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.result import Candidates
from plimsoll.service.placement import Placement

LOG = logging.getLogger(__name__)


def budget(placement: Placement, pause: Callable[[], None], is_client_gone: Callable[[], bool]) -> Budget:
    """Return the time budget of one search, starting now."""
    seconds = placement.settings.search_budget
    return Budget(seconds, clock=time.monotonic, pause=pause, is_cancelled=is_client_gone)


def find(
    placement: Placement, request: CandidatesRequest, query: str, budget: Budget
) -> Candidates | Refusal:
    """Search allocation candidates. `query` is the query string for log lines."""
    snapshot, order = placement.snapshot(), placement.settings.order
    if placement.settings.shuffle:
        order = replace(order, shuffle_seed=random.getrandbits(32))
    seconds = placement.settings.search_budget
    stage_ended = _stage_timer(placement.metrics)
    try:
        index = snapshot.index
        stage_ended("index")
        found = find_candidates(
            snapshot.world,
            index,
            request,
            order,
            budget,
            fast_paths=placement.settings.fast_paths,
            stage_ended=stage_ended,
        )
    except BudgetExceeded:
        LOG.warning(
            "A search for allocation candidates found none within search_budget (%s s). Query: %s",
            seconds,
            query,
        )
        return SearchTooLong(seconds)
    except SearchCancelled:
        LOG.info("The client closed its connection; the search was ended. Query: %s", query)
        return SearchAbandoned()
    if isinstance(found, Candidates) and not found.is_complete:
        LOG.warning(
            "A search for allocation candidates used up search_budget (%s s): the response has the %s found so far."
            " Query: %s",
            seconds,
            len(found.requests),
            query,
        )
    # If they are recorded, the first of equal searches is logged when it is.
    is_logged = placement.unplaced is None and LOG.isEnabledFor(logging.INFO)
    if is_logged and isinstance(found, Candidates) and not len(found.requests):
        LOG.info("No allocation candidates: %s. Query: %s", _reason(snapshot, request, budget), query)
    return found


def _stage_timer(metrics: Metrics) -> Callable[[str], None]:
    """Return a function that a search calls at the end of each of its stages."""
    began = time.perf_counter()

    def stage_ended(stage: str) -> None:
        nonlocal began
        now = time.perf_counter()
        metrics.search_stage_done(stage, now - began)
        began = now

    return stage_ended


def _reason(snapshot: Snapshot, request: CandidatesRequest, budget: Budget) -> str:
    """Return why there are no candidates, for the log. The response does not depend on it."""
    try:
        return reason_of_none(snapshot.world, snapshot.index, request, budget)
    except (BudgetExceeded, SearchCancelled):
        return "the search ended before the reason was found"


def cached(placement: Placement, query: str, variant: Hashable, compute: Compute) -> bytes:
    """Return the cached response to this query in this variant on the current snapshot, or compute it.

    Without a cache if candidates are shuffled: then each response has another order.
    """
    if placement.settings.shuffle or not placement.settings.fast_paths.response_cache:
        return compute()[0]
    return placement.snapshot().responses.get_or_compute(query, (variant, placement.settings.order), compute)
