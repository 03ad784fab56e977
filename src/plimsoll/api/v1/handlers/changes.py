# SPDX-License-Identifier: Apache-2.0

"""Changes: the history of all writes."""

from __future__ import annotations

from plimsoll.api.v1.documents import changes as documents
from plimsoll.api.v1.owners import visible_project
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, Route
from plimsoll.api.v1.times import AGE_UNITS, TIME_OR_AGE, parse_time
from plimsoll.api.v1.views import history as views
from plimsoll.api.v1.views.history import ChangeEncoder
from plimsoll.http.problems import BAD_PARAMETER, CHANGES_OTHER_HISTORY, CHANGES_PRUNED, Problem
from plimsoll.service import changes
from plimsoll.service.changes import (
    CURSOR_PATTERN,
    ChangeFilter,
    ChangePage,
    Cursor,
    CursorGone,
    CursorPruned,
    Place,
)
from plimsoll.service.names import find_provider

DEFAULT_LIMIT = 100


def list_all(call: V1Request) -> V1Response:
    values = call.values
    wanted = _filter(call)
    since, before = _cursor(call, "since"), _cursor(call, "before")
    if since is not None and before is not None:
        raise Problem(400, "since and before cannot be used together.", BAD_PARAMETER)
    if since is not None:
        page = changes.page_after(call.placement, since, wanted, values["limit"], call.pauses())
    else:
        page = changes.page_before(call.placement, before, wanted, values["limit"], call.pauses())
    if not isinstance(page, ChangePage):
        raise gone(page)
    return _response(call, page, wanted)


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


def _cursor(call: V1Request, name: str) -> Cursor | None:
    text = call.values.get(name)
    return None if text is None else Cursor.parse(text)


def _filter(call: V1Request) -> ChangeFilter:
    values = call.values
    now = changes.now()
    visible = None if call.sees_all_projects else visible_project(call)
    return ChangeFilter(
        places=_places(call),
        consumer=values.get("consumer"),
        project=visible_project(call) if "project" in values else None,
        operations=values["operation"],
        request_id=values.get("request_id"),
        since=parse_time("from", values["from"], now) if "from" in values else None,
        until=parse_time("to", values["to"], now) if "to" in values else None,
        visible_project=visible,
    )


def _places(call: V1Request) -> tuple[Place, ...]:
    values, world = call.values, call.placement.world()
    places = []
    if "provider" in values:
        # The uuid of a provider that no longer exists is no error: it has a history.
        provider = find_provider(world, values["provider"])
        places.append(Place(frozenset((values["provider"] if provider is None else provider.uuid,))))
    if "subtree" in values:
        top = call.provider_named(values["subtree"], note=" (subtree)")
        places.append(Place(frozenset(each.uuid for each in world.subtree(top.uuid))))
    if "aggregate" in values:
        aggregate = values["aggregate"]
        members = (each.uuid for each in world.providers.values() if aggregate in each.aggregates)
        places.append(Place(frozenset(members), aggregate))
    return tuple(places)


_NAME = {"type": "string", "minLength": 1, "maxLength": 255}
_CURSOR = {"type": "string", "pattern": CURSOR_PATTERN}

ROUTES = (
    Route(
        method="GET",
        path="/plimsoll/v1/changes",
        handler=list_all,
        rule="plimsoll:changes:list",
        summary="List changes, with what was before and after",
        description=(
            "With `since` the changes after that revision, the oldest first; else the newest first. All conditions must"
            " be met. `next` stands for everything that was examined: a page can have no changes although there are"
            " more. A cursor that is no longer valid is a 410 with the lowest revision that is. Callers that may not"
            " see all projects get the changes of providers, and those of consumers of their own project."
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
        ),
        returns={200: documents.CHANGES, 410: documents.GONE},
        formats=(JSON, NDJSON),
        reads_snapshot=False,
    ),
)
