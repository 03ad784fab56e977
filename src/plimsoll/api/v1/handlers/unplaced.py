# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches: GET /allocation_candidates that found nothing."""

from __future__ import annotations

import re
from datetime import datetime

from plimsoll.api.v1.documents import unplaced as documents
from plimsoll.api.v1.lists import line_headers
from plimsoll.api.v1.owners import visible_project
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.times import TIME_OR_AGE, parse_time
from plimsoll.api.v1.views import unplaced as views
from plimsoll.domain.unplaced import UnplacedEntry
from plimsoll.http.entity_tags import entity_tag
from plimsoll.http.problems import BAD_PARAMETER, Problem
from plimsoll.service import unplaced
from plimsoll.service.unplaced import UnplacedFilter, UnplacedPosition

_CURSOR = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{6})\.([0-9]{1,18})$"
_read_cursor = re.compile(_CURSOR).match


def list_all(call: V1Request) -> V1Response:
    values = call.values
    since = parse_time("since", values["since"], unplaced.now()) if "since" in values else None
    wanted = UnplacedFilter(visible_project(call), values.get("reason"), since)
    next_page = None
    if "request_id" in values:
        found = unplaced.with_request_id(call.placement, values["request_id"], wanted)
    else:
        limit = values["limit"]
        found = unplaced.page(call.placement, wanted, limit + 1, _position(values.get("after")))
        if len(found) > limit:
            found = found[:limit]
            next_page = _cursor(found[-1])
    return _response(call, found, next_page)


def _response(call: V1Request, found: list[UnplacedEntry], next_page: str | None) -> V1Response:
    revision = call.placement.snapshot().revision
    if call.format == NDJSON:
        body, headers = views.lines(found), line_headers(revision, next_page)
    else:
        body, headers = views.unplaced(found, revision, next_page), []
    # Entries change without a change of the revision: the tag is that of the body.
    return V1Response(body, content_type=call.format, etag=entity_tag(body), headers=headers)


def _cursor(entry: UnplacedEntry) -> str:
    return f"{entry.last_at.isoformat(timespec='microseconds')}.{entry.id}"


def _position(cursor: str | None) -> UnplacedPosition | None:
    found = None if cursor is None else _read_cursor(cursor)
    if found is None:
        return None
    try:
        return UnplacedPosition(datetime.fromisoformat(found[1]), int(found[2]))
    except ValueError:
        detail = "Invalid value of the query parameter after: it is not the `next` of a page."
        raise Problem(400, detail, BAD_PARAMETER) from None


ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/unplaced",
        handler=list_all,
        rule="plimsoll:unplaced:list",
        summary="List searches that found nothing",
        description=(
            "The newest first. Each entry stands for all searches of one project with the same query and microversion."
            " Callers that may not see all projects get the entries of their own project."
        ),
        parameters=(
            Parameter(
                "request_id",
                "The id of a request, as nova or Plimsoll logs it: the entries of its searches.",
                {"type": "string", "minLength": 1, "maxLength": 64},
                example="req-0a4d7a5e-5a0b-4d5f-9a2b-0c5f7f8b6c11",
            ),
            Parameter(
                "project", "The project of the caller.", {"type": "string", "minLength": 1, "maxLength": 255}
            ),
            Parameter(
                "reason",
                "The reason of the last search.",
                {"type": "string", "minLength": 1, "maxLength": 64},
            ),
            Parameter(
                "since",
                "A time in UTC, or an age such as `30m`, `12h` or `7d`: entries with a search since then.",
                TIME_OR_AGE,
                example="12h",
            ),
            Parameter(
                "limit",
                "The largest number of entries. Not used with `request_id`.",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
            ),
            Parameter(
                "after",
                "`next` of the page before this one.",
                {"type": "string", "pattern": _CURSOR, "maxLength": 64},
            ),
        ),
        returns={200: documents.UNPLACED},
        formats=(JSON, NDJSON),
    ),
)
