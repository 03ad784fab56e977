# SPDX-License-Identifier: Apache-2.0

"""Consumers with everything they hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from plimsoll.api.placement.uuids import is_uuid
from plimsoll.api.v1.documents import consumers as documents
from plimsoll.api.v1.lists import line_headers
from plimsoll.api.v1.owners import visible_project
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.times import AGE, time_before
from plimsoll.api.v1.views import consumers as views
from plimsoll.domain.provider import Provider
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten
from plimsoll.service import consumers
from plimsoll.service.consumers import ConsumerFilter, ConsumerPage

DEFAULT_LIMIT = 100
_LINES_PER_PAGE = 500
"""Consumers that are read at a time for a response of lines without a limit."""
_AGES = ("older_than", "newer_than")


def list_all(call: V1Request) -> V1Response:
    wanted = _filter(call)
    after = call.values.get("after", "")
    is_stream = call.format == NDJSON and "limit" not in call.values
    limit = _LINES_PER_PAGE if is_stream else call.values.get("limit", DEFAULT_LIMIT)
    page = consumers.page(call.placement, wanted, after, limit)
    etag = None if is_stream or any(name in call.values for name in _AGES) else _etag(call, page)
    if call.format != NDJSON:
        return V1Response(views.consumers(page.consumers, page.revision, page.next), etag=etag)
    if is_stream:
        pages = chain((page,), consumers.pages_after(call.placement, wanted, page, limit))
        return V1Response(_lines(pages), content_type=NDJSON, headers=line_headers(page.revision))
    headers = line_headers(page.revision, page.next)
    return V1Response(b"".join(_lines(iter((page,)))), content_type=NDJSON, etag=etag, headers=headers)


def _lines(pages: Iterator[ConsumerPage]) -> Iterator[bytes]:
    return views.lines(page.consumers for page in pages)


def show(call: V1Request) -> V1Response:
    uuid = call.params["uuid"]
    page = consumers.show(call.placement, uuid) if is_uuid(uuid) else None
    found = None if page is None or not page.consumers else page.consumers[0]
    if page is None or found is None or not _is_visible(call, found.consumer.project):
        raise Problem(404, f"There is no consumer with the uuid '{shorten(uuid, LONGEST_QUOTE)}'.")
    return V1Response(views.consumer(found, page.revision), etag=_etag(call, page))


def _is_visible(call: V1Request, project: str) -> bool:
    return call.sees_all_projects or project == call.caller.project_id


def _etag(call: V1Request, page: ConsumerPage) -> str:
    """Return the tag of a response that depends on the database, the URL, the format and the caller's rights."""
    return call.etag_at(page.revision, page.mark, call.visibility)


def _filter(call: V1Request) -> ConsumerFilter:
    values = call.values
    kind = values.get("type")
    provider, tree = _provider(call, "provider"), _provider(call, "tree")
    now = consumers.now()
    ages = {name: time_before(now, values[name]) for name in _AGES if name in values}
    return ConsumerFilter(
        project=visible_project(call),
        user=values.get("user"),
        type=None if kind == views.UNTYPED else kind,
        is_untyped=kind == views.UNTYPED,
        provider=None if provider is None else provider.uuid,
        tree=None if tree is None else tree.root,
        created_before=ages.get("older_than"),
        created_since=ages.get("newer_than"),
    )


def _provider(call: V1Request, name: str) -> Provider | None:
    """Return the provider that a parameter names; raise a `Problem` if there is none."""
    text = call.values.get(name)
    return None if text is None else call.provider_named(text, note=f" ({name})")


_NAME = {"type": "string", "minLength": 1, "maxLength": 255}

ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/consumers",
        handler=list_all,
        rule="plimsoll:consumers:list",
        summary="List consumers with everything they hold",
        description=(
            "In the order of their uuids. All conditions must be met. Callers that may not see all projects get the"
            " consumers of their own project. JSON lines without a limit are all consumers, read in several steps:"
            " `plimsoll-revision` is the revision of the first step."
        ),
        parameters=(
            Parameter("project", "The project that owns the consumer.", _NAME),
            Parameter("user", "The user that owns the consumer.", _NAME),
            Parameter(
                "type", "The consumer type; `unknown` for consumers without one.", _NAME, example="INSTANCE"
            ),
            Parameter(
                "provider", "The uuid or name of a provider of which the consumer holds something.", _NAME
            ),
            Parameter(
                "tree", "The uuid or name of a provider: the consumer holds something of its tree.", _NAME
            ),
            Parameter(
                "older_than", "Created longer ago than this: `90m`, `12h`, `30d`, `2w`.", AGE, example="30d"
            ),
            Parameter("newer_than", "Created within this time.", AGE, example="12h"),
            Parameter(
                "limit",
                "The largest number of consumers. Without it: 100, as JSON lines all.",
                {"type": "integer", "minimum": 1, "maximum": 1000},
            ),
            Parameter(
                "after",
                "`next` of the page before this one.",
                {"type": "string", "pattern": "^[0-9A-Za-z-]{1,36}$"},
            ),
        ),
        returns={200: documents.CONSUMERS},
        formats=(JSON, NDJSON),
    ),
    V1Route(
        method="GET",
        path="/plimsoll/v1/consumers/{uuid}",
        handler=show,
        rule="plimsoll:consumers:show",
        summary="Show a consumer with everything it holds",
        description="A consumer of a project that the caller may not see does not exist for it.",
        returns={200: documents.CONSUMER},
    ),
)
