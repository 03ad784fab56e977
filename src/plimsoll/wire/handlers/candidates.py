# SPDX-License-Identifier: Apache-2.0

"""Allocation candidates."""

from __future__ import annotations

import threading

from plimsoll import memory
from plimsoll.domain.refusals import SearchAbandoned
from plimsoll.permit import permit_of
from plimsoll.search.answer import Candidates
from plimsoll.search.budget import Budget, SearchCancelled
from plimsoll.search.request import CandidatesRequest
from plimsoll.service import candidates
from plimsoll.wire import timings
from plimsoll.wire.answers import Answer, now
from plimsoll.wire.call import Call, accepted
from plimsoll.wire.errors import Refused
from plimsoll.wire.problems import shortened
from plimsoll.wire.queries.candidates import candidates_request
from plimsoll.wire.views import candidates as views

_LONGEST_LOGGED = 500
"""Characters of a query in a log line."""
_encoding_large = threading.Lock()
"""Held while a large answer is encoded: several of them at the same time would take the memory of all."""


def find(call: Call) -> Answer:
    body = candidates.cached(call.placement, call.query_string, call.version, lambda: _found(call))
    return Answer(200, body, modified=now())


def _found(call: Call) -> tuple[bytes, bool]:
    """The answer, and whether it may be kept. One without candidates is not, so that each is logged."""
    request = candidates_request(call.query_string, call.version)
    permit = permit_of(call.environ)
    budget = candidates.budget(call.placement, permit.pause, permit.is_client_gone)
    timings.lap(call.environ, timings.OTHER)
    try:
        logged = shortened(call.query_string, _LONGEST_LOGGED)
        found = accepted(candidates.find(call.placement, request, logged, budget))
    finally:
        timings.lap(call.environ, timings.SEARCH)
    try:
        body = _encoded(found, request, call, budget)
    except SearchCancelled:
        raise Refused(SearchAbandoned(), {}) from None
    timings.lap(call.environ, timings.ENCODING)
    return body, found.is_complete and len(found.requests) > 0


def _encoded(found: Candidates, request: CandidatesRequest, call: Call, budget: Budget) -> bytes:
    if not found.requests.is_large:
        return views.candidates(found, request, call.version, budget.pause_if_due)
    with permit_of(call.environ).released():
        _encoding_large.acquire()
    try:
        return views.candidates(found, request, call.version, budget.pause_if_due)
    finally:
        _encoding_large.release()
        memory.trim()
