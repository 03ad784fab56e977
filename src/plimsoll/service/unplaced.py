# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches: note a search that found nothing, explain it in the background, list them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from plimsoll.domain.actor import Actor
from plimsoll.domain.unplaced import UNEXPLAINED, SearchSummary, UnplacedEntry, UnplacedQuery
from plimsoll.ledger.unplaced_writer import UnplacedSearch
from plimsoll.search.budget import Budget, BudgetExceeded
from plimsoll.search.explain import explain as search_explain
from plimsoll.search.explain.explanation import Explanation
from plimsoll.search.plan import NameMissing
from plimsoll.search.request import CandidatesRequest, Order
from plimsoll.service.placement import Placement
from plimsoll.storage import unplaced as storage
from plimsoll.storage.sql import utc_now
from plimsoll.storage.unplaced import MAX_QUERY_CHARS, UnplacedFilter, UnplacedPosition

__all__ = ["UnplacedFilter", "UnplacedPosition", "explain", "note", "page", "with_request_id"]

EXPLAIN_SECONDS = 2.0
"""That an explanation in the background may take."""


def note(
    placement: Placement,
    request: CandidatesRequest,
    query: str,
    microversion: str,
    actor: Actor,
    global_request_id: str | None,
) -> None:
    """Count a search that found nothing in the current snapshot, and have the writer record it. Never waits."""
    for group in request.groups:
        for resource_class, amount in group.resources.items():
            placement.metrics.amount_unmet(resource_class, amount)
    if placement.unplaced is None:
        placement.metrics.search_explained(UNEXPLAINED)
    else:
        placement.unplaced.add(
            UnplacedSearch(
                placement.snapshot(),
                request,
                UnplacedQuery(actor.project, _shortened(query), microversion),
                len(query),
                utc_now(),
                actor.request_id,
                global_request_id,
                actor.user,
            )
        )


def _shortened(query: str) -> str:
    """Return the query; a long one is cut, and a hash distinguishes it from others with the same beginning."""
    if len(query) <= MAX_QUERY_CHARS:
        return query
    whole = blake2b(query.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
    return f"{query[: MAX_QUERY_CHARS - 60]}... ({len(query)} characters, {whole})"


def explain(search: UnplacedSearch, pause: Callable[[], None]) -> SearchSummary:
    """Return why a search found nothing. Calls `pause` about every millisecond."""
    budget = Budget(EXPLAIN_SECONDS, clock=time.monotonic, pause=pause)
    snapshot = search.snapshot
    try:
        reason, verdict, summary = summary_of(search, budget)
    except BudgetExceeded:
        reason, verdict = UNEXPLAINED, "unknown"
        summary = f"The search found nothing; why was not found out within {EXPLAIN_SECONDS:.0f} s."
    return SearchSummary(snapshot.revision, reason, verdict, summary)


def summary_of(search: UnplacedSearch, budget: Budget) -> tuple[str, str, str]:
    """Return the reason, the verdict and the summary. Raises BudgetExceeded."""
    snapshot = search.snapshot
    explained = search_explain.explain(snapshot.world, snapshot.index, search.request, Order(), budget)
    assert not isinstance(explained, NameMissing), "a search that ended without an error"
    return main_reason(explained), str(explained.verdict), explained.summary


def main_reason(explained: Explanation) -> str:
    """Return the reason of the clause that is the only obstacle at the most hosts, or else fails at the most hosts."""
    clauses = [each for each in explained.clauses if each.failed]
    if clauses:
        return max(clauses, key=lambda each: (each.sole, each.failed, -each.number)).reason
    ends = [each for each in explained.clauses if not each.left]
    return ends[0].reason if ends and explained.hosts else "no_hosts"


def page(
    placement: Placement, wanted: UnplacedFilter, limit: int, after: UnplacedPosition | None
) -> list[UnplacedEntry]:
    """Return at most `limit` entries after this position, the newest first."""
    return placement.ledger.database.run_read(lambda conn: storage.page(conn, wanted, limit, after))


def with_request_id(placement: Placement, request_id: str, wanted: UnplacedFilter) -> list[UnplacedEntry]:
    """Return the entries of the searches with this request id, of the request itself or of the client's request."""
    return placement.ledger.database.run_read(lambda conn: storage.with_request_id(conn, request_id, wanted))


def now() -> datetime:
    """Return the current time as it is stored."""
    return utc_now()
