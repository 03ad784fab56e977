# SPDX-License-Identifier: Apache-2.0

"""Changes: the history of all writes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

from plimsoll.api.v1.computations import computation
from plimsoll.api.v1.documents import changes as documents
from plimsoll.api.v1.owners import visible_project
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import EVENTS, JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.times import AGE_UNITS, TIME_OR_AGE, parse_time
from plimsoll.api.v1.views import changes as views
from plimsoll.api.v1.views.changes import ChangeEncoder
from plimsoll.http import timings
from plimsoll.http.problems import BAD_PARAMETER, CHANGES_OTHER_HISTORY, CHANGES_PRUNED, Problem
from plimsoll.service import change_feed, changes
from plimsoll.service.change_feed import Subscription, TooManySubscribers
from plimsoll.service.changes import (
    CURSOR_PATTERN,
    ChangeFilter,
    ChangePage,
    Cursor,
    CursorGone,
    CursorPruned,
    ProviderCondition,
)
from plimsoll.service.names import find_provider

DEFAULT_LIMIT = 100
MAX_WAIT = 60
"""Seconds. Proxies end requests that take longer."""


def list_all(call: V1Request) -> V1Response:
    values, wanted = call.values, _filter(call)
    is_stream = call.format == EVENTS
    since, before = _since(call, is_stream=is_stream), _cursor(call.values.get("before"))
    if since is not None and before is not None:
        raise Problem(400, "since and before cannot be used together.", BAD_PARAMETER)
    if is_stream:
        return _stream(call, since, wanted)
    if since is None and values["wait"]:
        raise Problem(400, "wait needs since.", BAD_PARAMETER)
    with computation(call.permit):
        page = _unless_gone(_page(call, since, before, wanted))
        if page.changes or page.has_more or not values["wait"]:
            return _response(call, page, wanted)
    return _response(call, _unless_gone(_wait(call, page, wanted)), wanted)


def _page(
    call: V1Request, since: Cursor | None, before: Cursor | None, wanted: ChangeFilter
) -> ChangePage | CursorGone:
    limit = call.values["limit"]
    if since is None:
        return changes.page_before(call.placement, before, wanted, limit, call.pauses())
    return changes.page_after(call.placement, since, wanted, limit, call.pauses())


def _since(call: V1Request, *, is_stream: bool) -> Cursor | None:
    """Return the cursor after which changes are wanted. A client that connects again sends the last one it has received."""
    last = call.environ.get("HTTP_LAST_EVENT_ID") if is_stream else None
    if not last:
        return _cursor(call.values.get("since"))
    cursor = _cursor(last)
    if cursor is None:
        raise Problem(
            400, "The header Last-Event-ID is not the id of an event of this stream.", BAD_PARAMETER
        )
    return cursor


def _wait(call: V1Request, page: ChangePage, wanted: ChangeFilter) -> ChangePage | CursorGone:
    """Return the page after the next change, or an empty one when the time is over. The request has no permit meanwhile."""
    permit = call.permit
    seconds = min(call.values["wait"], permit.longest_wait)
    with closing(_subscribe(call)) as subscription:
        began = time.perf_counter()
        with permit.released():
            found = change_feed.wait_for_page(
                call.placement,
                subscription,
                page,
                wanted,
                call.values["limit"],
                seconds,
                permit.is_client_gone,
            )
        timings.leave_out(call.environ, time.perf_counter() - began)
    return found


def _stream(call: V1Request, since: Cursor | None, wanted: ChangeFilter) -> V1Response:
    subscription = _subscribe(call)
    try:
        page = _first_page(call, since, wanted)
    except BaseException:
        subscription.close()
        raise
    call.permit.begin_stream()
    seconds = call.permit.longest_wait
    pause, is_cancelled = call.permit.periodic_yield(), call.permit.is_client_gone
    items = change_feed.stream(call.placement, subscription, page, wanted, seconds, pause, is_cancelled)
    encoded = views.EventEncoder(call.placement, wanted.visible_project)
    return V1Response(
        EventStream(map(encoded, items), subscription),
        content_type=EVENTS,
        headers=[("cache-control", "no-store"), ("x-accel-buffering", "no")],
    )


def _first_page(call: V1Request, since: Cursor | None, wanted: ChangeFilter) -> ChangePage:
    """Return the first page of a stream, which begins at the newest change without a cursor."""
    if since is None:
        bounds = changes.bounds(call.placement)
        return ChangePage([], bounds, bounds.end)
    with computation(call.permit):
        return _unless_gone(
            changes.page_after(call.placement, since, wanted, change_feed.STREAM_PAGE, call.pauses())
        )


def _subscribe(call: V1Request) -> Subscription:
    try:
        return change_feed.subscribe(call.placement)
    except TooManySubscribers:
        detail = "As many clients wait for changes at this worker as [plimsoll]max_subscribers allows."
        raise Problem(503, detail, retry_after=5) from None


class EventStream:
    """The body of a stream. Its `close`, which the server calls at the end, removes the subscriber."""

    def __init__(self, pieces: Iterator[bytes], subscription: Subscription) -> None:
        self._pieces = pieces
        self._subscription = subscription

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._subscription.close()


def _unless_gone(page: ChangePage | CursorGone) -> ChangePage:
    if isinstance(page, ChangePage):
        return page
    raise gone(page)


def _response(call: V1Request, page: ChangePage, wanted: ChangeFilter) -> V1Response:
    names = changes.names_of(call.placement.world(), page.changes)
    encode = ChangeEncoder(page.bounds, names, wanted.visible_project)
    pause = call.pauses()
    encoded = []
    for each in page.changes:
        encoded.append(encode(each))
        pause()
    etag = _etag(call, page)
    if call.format != NDJSON:
        return V1Response(views.page(page, encoded), etag=etag)
    headers = [(f"plimsoll-{name}", text) for name, text in views.bounds_members(page.bounds).items()]
    if page.next is not None:
        headers.append(("plimsoll-next", str(page.next)))
    headers.append(("plimsoll-more", "true" if page.has_more else "false"))
    return V1Response(
        b"".join(each + b"\n" for each in encoded), content_type=NDJSON, etag=etag, headers=headers
    )


def _etag(call: V1Request, page: ChangePage) -> str | None:
    """Return the tag of a page; None if it depends on the present time."""
    if any(call.values.get(name, "")[-1:] in AGE_UNITS for name in ("from", "to")):
        return None
    bounds = page.bounds
    return call.etag_at(
        bounds.revision(bounds.head.seq), bounds.head.mark, str(bounds.lowest), call.visibility
    )


def gone(why: CursorGone) -> Problem:
    """Return the error of a cursor that is no longer valid."""
    bounds = views.bounds_members(why.bounds)
    facts = tuple((name, bounds[name]) for name in ("lowest", "highest"))
    if isinstance(why, CursorPruned):
        detail = (
            f"Changes after this revision were removed from the change log, which begins at {bounds['lowest']}."
            " Read everything again."
        )
        return Problem(410, detail, CHANGES_PRUNED, facts=facts)
    detail = (
        f"This revision is of another history of the database, which is at {bounds['highest']}: it was restored from"
        " a backup. Read everything again."
    )
    return Problem(410, detail, CHANGES_OTHER_HISTORY, facts=facts)


def _cursor(text: str | None) -> Cursor | None:
    return None if text is None else Cursor.parse(text)


def _filter(call: V1Request) -> ChangeFilter:
    values = call.values
    now = changes.now()
    visible = None if call.sees_all_projects else visible_project(call)
    return ChangeFilter(
        providers=_provider_conditions(call),
        consumer=values.get("consumer"),
        project=visible_project(call) if "project" in values else None,
        operations=values["operation"],
        request_id=values.get("request_id"),
        since=parse_time("from", values["from"], now) if "from" in values else None,
        until=parse_time("to", values["to"], now) if "to" in values else None,
        visible_project=visible,
    )


def _provider_conditions(call: V1Request) -> tuple[ProviderCondition, ...]:
    values, world = call.values, call.placement.world()
    providers = []
    if "provider" in values:
        # The uuid of a provider that no longer exists is no error: it has a history.
        provider = find_provider(world, values["provider"])
        providers.append(
            ProviderCondition(frozenset((values["provider"] if provider is None else provider.uuid,)))
        )
    if "subtree" in values:
        top = call.provider_named(values["subtree"], note=" (subtree)")
        providers.append(ProviderCondition(frozenset(each.uuid for each in world.subtree(top.uuid))))
    if "aggregate" in values:
        aggregate = values["aggregate"]
        members = (each.uuid for each in world.providers.values() if aggregate in each.aggregates)
        providers.append(ProviderCondition(frozenset(members), aggregate))
    return tuple(providers)


_NAME = {"type": "string", "minLength": 1, "maxLength": 255}
_CURSOR = {"type": "string", "pattern": CURSOR_PATTERN}

ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/changes",
        handler=list_all,
        rule="plimsoll:changes:list",
        summary="List changes, with what was before and after",
        description=(
            "With `since` the changes after that revision, the oldest first; else the newest first. All conditions must"
            " be met. `next` stands for everything that was examined: a page can have no changes although there are"
            " more. A cursor that is no longer valid is a 410 with the lowest revision that is. As an event stream it goes on"
            " with later changes; the header `Last-Event-ID` takes the place of `since`. Callers that may not see all"
            " projects get the changes of providers, and those of consumers of their own project."
        ),
        parameters=(
            Parameter("since", "A revision, or `next` of the page before: the changes after it.", _CURSOR),
            Parameter("before", "A revision, or `next` of the page before: the changes before it.", _CURSOR),
            Parameter(
                "provider", "The uuid or name of a provider, or the uuid of one that no longer exists.", _NAME
            ),
            Parameter("subtree", "The uuid or name of a provider: it and those below it now.", _NAME),
            Parameter(
                "aggregate",
                "The uuid of an aggregate: its providers, and those that a change adds or removes.",
                {"type": "string", "format": "uuid"},
            ),
            Parameter("consumer", "The uuid of a consumer.", {"type": "string", "format": "uuid"}),
            Parameter("project", "The project that owned or owns a consumer.", _NAME),
            Parameter(
                "operation", "One of these operations.", _NAME, repeated=True, example="allocations.claim"
            ),
            Parameter(
                "request_id",
                "The id of a request, as nova or Plimsoll logs it.",
                {"type": "string", "minLength": 1, "maxLength": 64},
            ),
            Parameter(
                "from",
                "A time in UTC, or an age such as `30m`, `12h` or `7d`: changes since then.",
                TIME_OR_AGE,
                example="12h",
            ),
            Parameter("to", "A time in UTC, or an age: changes up to then.", TIME_OR_AGE),
            Parameter(
                "limit",
                "The largest number of changes.",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": DEFAULT_LIMIT},
            ),
            Parameter(
                "wait",
                "If there is no such change after `since`, wait for one for so many seconds. Other servers than `plimsoll"
                " serve` wait for 5 seconds at most.",
                {"type": "integer", "minimum": 0, "maximum": MAX_WAIT, "default": 0},
            ),
        ),
        returns={200: documents.CHANGES, 410: documents.GONE},
        formats=(JSON, NDJSON, EVENTS),
        reads_snapshot=False,
    ),
)
