# SPDX-License-Identifier: Apache-2.0

"""Explain a search for allocation candidates on the current snapshot, within the budget of a search."""

from __future__ import annotations

import time
from collections.abc import Callable

from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import Refusal, SearchAbandoned, SearchTooLong
from plimsoll.domain.values import unhashable_value
from plimsoll.search.budget import Budget, BudgetExceeded, SearchCancelled
from plimsoll.search.explain.explain import DEFAULT_SHOWN, explain
from plimsoll.search.explain.explanation import Explanation, ShownHosts, Verdict
from plimsoll.search.relax.exclusions import Exclusion, exclusions
from plimsoll.search.relax.relaxations import Relaxation, relax
from plimsoll.search.repeated_search import RepeatedSearch
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.placement import Placement

RELAX_SECONDS = 0.4
"""Processor time for changed requests: they are many searches, and the explanation does not depend on them."""


@unhashable_value
class Suggestions:
    """Changes of a request that give candidates."""

    relaxations: tuple[Relaxation, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    is_complete: bool = True
    """False if the time ended before all changes were tried."""


def explain_search(
    placement: Placement,
    request: CandidatesRequest,
    provider: Provider | None,
    budget: Budget,
    shown: ShownHosts = DEFAULT_SHOWN,
) -> Explanation | Refusal:
    """Return why a request has candidates, or none; with `provider`, also why its host has some, or none."""
    snapshot, settings = placement.snapshot(), placement.settings
    try:
        return explain(
            snapshot.world,
            snapshot.index,
            request,
            settings.order,
            budget,
            provider=provider,
            shown=shown,
            fast_paths=settings.fast_paths,
        )
    except BudgetExceeded:
        return SearchTooLong(settings.search_budget)
    except SearchCancelled:
        return SearchAbandoned()


def suggest(
    placement: Placement,
    request: CandidatesRequest,
    explanation: Explanation,
    pause: Callable[[], None],
    is_client_gone: Callable[[], bool],
) -> Suggestions | Refusal:
    """Return the minimal changes of a request without candidates, as far as they are found in time."""
    if explanation.verdict == Verdict.FOUND:
        return Suggestions()
    snapshot = placement.snapshot()
    budget = Budget(RELAX_SECONDS, clock=time.thread_time, pause=pause, is_cancelled=is_client_gone)
    search = RepeatedSearch(snapshot.world, budget, fast_paths=placement.settings.fast_paths)
    try:
        excluded: tuple[Exclusion, ...] = ()
        try:
            excluded = exclusions(snapshot.index, request, budget)
        except BudgetExceeded:
            return Suggestions(is_complete=False)
        found = relax(search, snapshot.index, request)
    except SearchCancelled:
        return SearchAbandoned()
    return Suggestions(found.found, excluded, found.is_complete)
