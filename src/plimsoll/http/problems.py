# SPDX-License-Identifier: Apache-2.0

"""Error responses: the exception `Problem`, and its error document.

A `Problem` is raised anywhere in the API layer and becomes a response in one place. The document has the shape and the
layout (explanation, blank line, detail) of the reference, because some clients parse the detail.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

import orjson
import webob.exc
from webob.acceptparse import create_accept_header

from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.request_id import REQUEST_ID_KEY
from plimsoll.http.response import Headers, Reply, length_header

# Error codes are part of the API: their text and meaning never change.
UNDEFINED = "placement.undefined_code"
INVENTORY_IN_USE = "placement.inventory.inuse"
CONCURRENT_UPDATE = "placement.concurrent_update"
DUPLICATE_NAME = "placement.duplicate_name"
PROVIDER_IN_USE = "placement.resource_provider.inuse"
PROVIDER_HAS_CHILDREN = "placement.resource_provider.cannot_delete_parent"
PROVIDER_NOT_FOUND = "placement.resource_provider.not_found"
DUPLICATE_PARAMETER = "placement.query.duplicate_key"
BAD_PARAMETER = "placement.query.bad_value"
MISSING_PARAMETER = "placement.query.missing_value"
SEARCH_BUDGET_EXCEEDED = "plimsoll.search_budget_exceeded"
"""A code of our own: openstack-placement has no such limit."""
CHANGES_PRUNED = "plimsoll.changes.pruned"
CHANGES_OTHER_HISTORY = "plimsoll.changes.other_history"
CHANGES_UNFINISHED = "plimsoll.changes.unfinished"

JSON = "application/json"
_PLAIN_HTML = "text/html; charset=UTF-8"

LONGEST_DETAIL = 1000
"""Characters of a detail, so that error documents stay short for any request."""
LONGEST_QUOTE = 255
"""Characters that an error quotes from one value of a request: the length of the longest valid name."""


def shorten(text: str, longest: int) -> str:
    """Cut the text at `longest` characters. A cut text ends with its original length."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text)} characters)"


class Problem(Exception):
    """An error response: its status, and the contents of its error document."""

    def __init__(
        self,
        status: int,
        detail: str = "",
        code: str = UNDEFINED,
        *,
        allow: str | None = None,
        retry_after: int | None = None,
        omit_vary: bool = False,
        facts: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.detail = shorten(detail, LONGEST_DETAIL)
        super().__init__(self.detail)
        self.status = status
        self.code = code
        self.allow = allow
        self.retry_after = retry_after
        self.omit_vary = omit_vary
        """Whether the response has no `vary` header, as in the reference for errors outside of a handler."""
        self.facts = facts
        """Further members of the error document."""

    def append(self, facts: str) -> None:
        """Add facts to the detail, in the same line: some clients show the last line alone."""
        if facts:
            self.detail = shorten(f"{self.detail} {facts}".strip(), LONGEST_DETAIL)


_TITLES = {status: str(error.title) for status, error in webob.exc.status_map.items()}
STATUS_LINES = {status: f"{status} {title}" for status, title in _TITLES.items()}

_EXPLANATIONS = {
    400: "The server could not comply with the request since it is either malformed or otherwise incorrect.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    409: "There was a conflict when trying to complete your request.",
    410: "The resource is no longer available.",
    413: "The body of your request was too large for this server.",
    503: "The server is currently unavailable. Please try again at a later time.",
    500: "The server has either erred or is incapable of performing the requested operation.",
}

# These explanations quote a header or the method of the request, and end without the usual two blanks.
_QUOTING_EXPLANATIONS = {
    405: ("The method {} is not allowed for this resource. ", "REQUEST_METHOD"),
    406: (
        "The resource could not be generated that was acceptable to your browser (content of type {}. ",
        "HTTP_ACCEPT",
    ),
    415: ("The request media type {} is not supported by this server. ", "CONTENT_TYPE"),
}


def full_detail(problem: Problem, environ: Mapping[str, Any]) -> str:
    """Return the explanation of the status, a blank line and the detail, as WebOb lays them out."""
    quoting = _QUOTING_EXPLANATIONS.get(problem.status)
    if quoting is None:
        text = f"{_EXPLANATIONS[problem.status]}<br><br> {problem.detail}  "
    else:
        explanation, key = quoting
        quoted = shorten(environ.get(key, ""), LONGEST_QUOTE)
        text = f"{explanation.format(quoted)}<br><br> {problem.detail}"
    return _without_tags(text)


def _without_tags(text: str) -> str:
    """Strip tags as WebOb does, but in linear time."""
    text = _replace_tags(_LINE_BREAK, text.replace("\n", " ").replace("\r", ""), "\n")
    return _replace_tags(_TAG, _COMMENT_MARK.sub("", text), "")


def _replace_tags(tag: re.Pattern[str], text: str, by: str) -> str:
    # No tag ends after the last ">". Before it every "<" has a ">" after it, so no scan runs to the end of the text.
    head, end, tail = text.rpartition(">")
    return tag.sub(by, head + end) + tail


_LINE_BREAK = re.compile(r"<br.*?>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<.*?>", re.DOTALL)
_COMMENT_MARK = re.compile(r"<!--|-->")


def problem_reply(
    problem: Problem, environ: WSGIEnvironment, headers: Headers | None = None, *, with_code: bool = False
) -> Reply:
    """Return the response to a `Problem`, with these further headers."""
    content_type, body = render(problem, environ, environ.get(REQUEST_ID_KEY), with_code=with_code)
    headers = [("content-type", content_type), length_header(body), *(headers or ())]
    if problem.allow is not None:
        headers.append(("allow", problem.allow))
    if problem.retry_after is not None:
        headers.append(("retry-after", str(problem.retry_after)))
    return STATUS_LINES[problem.status], headers, (body,)


def send_problem(
    problem: Problem, environ: WSGIEnvironment, start_response: StartResponse
) -> Iterable[bytes]:
    """Send the response to a `Problem` outside of an API: without the headers and the error code of its version."""
    status, headers, body = problem_reply(problem, environ)
    start_response(status, headers)
    return body


def render(
    problem: Problem, environ: Mapping[str, Any], request_id: str | None, *, with_code: bool
) -> tuple[str, bytes]:
    """Return content type and body of the response, in the media type that the client accepts; JSON by default."""
    if environ["REQUEST_METHOD"] == "HEAD":
        return _PLAIN_HTML, b""
    content_type = _error_content_type(environ.get("HTTP_ACCEPT", ""))
    if content_type != JSON:
        if content_type == "text/html":
            page = webob.exc.status_map[problem.status](problem.detail)
            quoted = (key for _, key in _QUOTING_EXPLANATIONS.values())  # variables in WebOb's error pages
            text = page.html_body({key: shorten(environ.get(key, ""), LONGEST_QUOTE) for key in quoted})
        else:
            text = f"{STATUS_LINES[problem.status]}\n\n{full_detail(problem, environ)}"
        return f"{content_type}; charset=UTF-8", text.encode("utf-8", "backslashreplace")
    error: dict[str, Any] = {
        "status": problem.status,
        "title": _TITLES[problem.status],
        "detail": full_detail(problem, environ),
    }
    if with_code:
        error["code"] = problem.code
    if request_id is not None:
        error["request_id"] = request_id
    error.update(problem.facts)
    try:
        return JSON, orjson.dumps({"errors": [error]})
    except TypeError:  # a lone surrogate, quoted from the request
        return JSON, orjson.dumps({"errors": [{name: _without_surrogates(error[name]) for name in error}]})


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _error_content_type(accept: str) -> str:
    offers = create_accept_header(accept).acceptable_offers(["text/html", JSON])
    return str(offers[0][0]) if offers else "text/plain"


def _without_surrogates(value: str | int) -> str | int:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
