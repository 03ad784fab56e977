# SPDX-License-Identifier: Apache-2.0

"""Handler of /allocation_candidates: search, or return the cached response."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from functools import partial

from plimsoll.api.placement.errors import Refused
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import candidates as views
from plimsoll.domain.refusals import SearchAbandoned
from plimsoll.http import timings
from plimsoll.http.problems import Problem, shorten
from plimsoll.http.request_id import global_request_id
from plimsoll.http.response import Response, now
from plimsoll.search.budget import Budget, SearchCancelled
from plimsoll.search.request import CandidatesRequest
from plimsoll.search.result import LARGE_ENTRIES, Candidates
from plimsoll.service import candidates, unplaced

_LONGEST_LOGGED = 500
"""Characters of a query in a log line."""
_searching_large = threading.BoundedSemaphore(2)
"""Held from the search to the end of the encoding if the response may be large: each takes up to 20 MB until then."""
_encoding_large = threading.Lock()
"""Held while a large response is encoded, so that the memory for encoding is needed only once."""
_LONGEST_WAIT = 60.0
"""Seconds that a search waits for other searches: each takes a second for 50 MB, and more on a busy machine."""
_TRIMMED_BYTES = 10 << 20
_TOO_MANY_SEARCHES = (
    "Too many searches for thousands of allocation candidates are in progress."
    " Try again, or set a lower limit."
)
_NO_MEMORY = (
    "Responses that other clients have not received yet use the memory that this response needs."
    " Try again, or set a lower limit."
)


def find(call: ApiRequest) -> Response:
    call.search_result = "cached"
    body = candidates.cached(call.placement, call.query_string, call.version, lambda: _search(call))
    return Response(200, body, modified=now())


def _search(call: ApiRequest) -> tuple[bytes, bool]:
    """Return the body, and whether it may be cached. One without candidates is not, so that each search is logged."""
    call.search_result = None  # a query that cannot be parsed is no search
    request: CandidatesRequest = call.query()
    call.search_result = "failed"
    permit = call.permit
    is_large = request.limit is None or request.limit * len(request.groups) > LARGE_ENTRIES
    with _large_search_slot(call) if is_large else contextlib.nullcontext():
        permit.begin_computation()
        budget = candidates.budget(call.placement, permit.pause, permit.is_client_gone)
        timings.lap(call.environ, timings.OTHER)
        try:
            logged = shorten(call.query_string, _LONGEST_LOGGED)
            found = accepted(candidates.find(call.placement, request, logged, budget))
        finally:
            timings.lap(call.environ, timings.SEARCH)
        began = time.perf_counter()
        try:
            body = _encoded(found, request, call, budget)
        except SearchCancelled:
            raise Refused(SearchAbandoned(), {}) from None
        call.placement.metrics.search_stage_done("encode", time.perf_counter() - began)
        call.search_result = "found" if len(found.requests) else "empty"
        timings.lap(call.environ, timings.ENCODING)
    if not len(found.requests):
        call.on_confirmed = partial(_note_unplaced, call, request)
    return body, found.is_complete and len(found.requests) > 0


def _note_unplaced(call: ApiRequest, request: CandidatesRequest) -> None:
    unplaced.note(
        call.placement,
        request,
        call.query_string,
        call.version.text,
        call.actor,
        global_request_id(call.environ),
    )


@contextlib.contextmanager
def _large_search_slot(call: ApiRequest) -> Iterator[None]:
    """Wait for one of the slots for searches whose response may be large."""
    if not _searching_large.acquire(blocking=False):
        with call.permit.released():
            is_acquired = _searching_large.acquire(timeout=_LONGEST_WAIT)
        if not is_acquired:
            raise Problem(503, _TOO_MANY_SEARCHES, retry_after=5)
    try:
        yield
    finally:
        _searching_large.release()


def _encoded(found: Candidates, request: CandidatesRequest, call: ApiRequest, budget: Budget) -> bytes:
    fast_paths = call.placement.settings.fast_paths
    encode = partial(views.candidates, found, request, call.version, budget.pause_if_due, fast_paths)
    if not found.requests.is_large:
        return encode()
    permit = call.permit
    with permit.released():
        _encoding_large.acquire()
    try:
        with permit.released():
            has_memory = permit.wait_for_memory()
        if not has_memory:
            raise Problem(503, _NO_MEMORY, retry_after=5)
        body = encode()
        if len(body) > _TRIMMED_BYTES:
            permit.trim_memory()
        return body
    finally:
        _encoding_large.release()
