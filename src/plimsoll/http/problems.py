# SPDX-License-Identifier: Apache-2.0

"""What goes wrong with a request, and the error document that says so.

A `Problem` is raised anywhere in the wire and becomes an answer in one place. The document has the API's shape
and the framing of its detail (explanation, blank line, detail) that clients have always seen and some take apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
import webob.exc
from webob.acceptparse import create_accept_header

from plimsoll.bounded_cache import bounded_cache

# Error codes are part of the API: none ever changes its text or meaning.
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
"""Not one of openstack-placement's codes: it has no such limit."""

JSON = "application/json"
_PLAIN_HTML = "text/html; charset=UTF-8"

LONGEST_DETAIL = 1000
"""Characters of a detail. Whatever a request sends, its error document stays short."""
LONGEST_QUOTE = 255
"""Characters that an error quotes from one value of a request: the length of the longest valid name."""


def shortened(text: str, longest: int) -> str:
    """The text, cut at `longest` characters. A cut text ends with its original length."""
    return text if len(text) <= longest else f"{text[:longest]}... ({len(text)} characters)"


class Problem(Exception):
    """A refusal to serve a request, with all that its error document says."""

    def __init__(
        self,
        status: int,
        detail: str = "",
        code: str = UNDEFINED,
        *,
        allow: str | None = None,
        retry_after: int | None = None,
        bare: bool = False,
        facts: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.detail = shortened(detail, LONGEST_DETAIL)
        super().__init__(self.detail)
        self.status = status
        self.code = code
        self.allow = allow
        self.retry_after = retry_after
        self.bare = bare
        """Whether the answer goes without `vary`: it does where the problem lies outside of a handler."""
        self.facts = facts
        """Further members of the error document."""

    def append(self, facts: str) -> None:
        """Add facts to the detail, in the same line: some clients show the last line alone."""
        if facts:
            self.detail = shortened(f"{self.detail} {facts}".strip(), LONGEST_DETAIL)


STATUS_LINES = {status: f"{status} {error.title}" for status, error in webob.exc.status_map.items()}
_TITLES = {status: str(error.title) for status, error in webob.exc.status_map.items()}

_EXPLANATIONS = {
    400: "The server could not comply with the request since it is either malformed or otherwise incorrect.",
    403: "Access was denied to this resource.",
    404: "The resource could not be found.",
    409: "There was a conflict when trying to complete your request.",
    413: "The body of your request was too large for this server.",
    503: "The server is currently unavailable. Please try again at a later time.",
    500: "The server has either erred or is incapable of performing the requested operation.",
}

# These name something of the request in their explanation, and end without the usual two blanks.
_NAMING = {
    405: ("The method {} is not allowed for this resource. ", "REQUEST_METHOD"),
    406: (
        "The resource could not be generated that was acceptable to your browser (content of type {}. ",
        "HTTP_ACCEPT",
    ),
    415: ("The request media type {} is not supported by this server. ", "CONTENT_TYPE"),
}


def framed(problem: Problem, environ: Mapping[str, Any]) -> str:
    """The detail of a problem, in the frame of its status."""
    naming = _NAMING.get(problem.status)
    if naming is None:
        text = f"{_EXPLANATIONS[problem.status]}<br><br> {problem.detail}  "
    else:
        named = shortened(environ.get(naming[1], ""), LONGEST_QUOTE)
        text = f"{naming[0].format(named)}<br><br> {problem.detail}"
    return _without_tags(text)


def _without_tags(text: str) -> str:
    """The text as WebOb strips tags from it, in linear time."""
    text = _replace_tags(_LINE_BREAK, text.replace("\n", " ").replace("\r", ""), "\n")
    return _replace_tags(_TAG, _COMMENT_MARK.sub("", text), "")


def _replace_tags(tag: re.Pattern[str], text: str, by: str) -> str:
    # Behind the last ">" no tag can end. Before it every "<" has a ">" behind it, so that no scan is in vain.
    head, end, tail = text.rpartition(">")
    return tag.sub(by, head + end) + tail


_LINE_BREAK = re.compile(r"<br.*?>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<.*?>", re.DOTALL)
_COMMENT_MARK = re.compile(r"<!--|-->")


def rendered(
    problem: Problem, environ: Mapping[str, Any], request_id: str | None, *, with_code: bool
) -> tuple[str, bytes]:
    """Content type and body of the answer, in the form that the client accepts: JSON, unless it says otherwise."""
    if environ["REQUEST_METHOD"] == "HEAD":
        return _PLAIN_HTML, b""
    form = _form(environ.get("HTTP_ACCEPT", ""))
    if form != JSON:
        if form == "text/html":
            page = webob.exc.status_map[problem.status](problem.detail)
            text = page.html_body(_named(environ))
        else:
            text = f"{STATUS_LINES[problem.status]}\n\n{framed(problem, environ)}"
        return f"{form}; charset=UTF-8", text.encode("utf-8", "backslashreplace")
    error: dict[str, Any] = {
        "status": problem.status,
        "title": _TITLES[problem.status],
        "detail": framed(problem, environ),
    }
    if with_code:
        error["code"] = problem.code
    if request_id is not None:
        error["request_id"] = request_id
    error.update(problem.facts)
    return JSON, _encoded({"errors": [error]})


def _named(environ: Mapping[str, Any]) -> dict[str, str]:
    """The variables that WebOb's pages quote from a request."""
    return {key: shortened(environ.get(key, ""), LONGEST_QUOTE) for _, key in _NAMING.values()}


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _form(accept: str) -> str:
    offers = create_accept_header(accept).acceptable_offers(["text/html", JSON])
    return str(offers[0][0]) if offers else "text/plain"


def _encoded(document: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(document)
    except TypeError:  # a lone surrogate, quoted from the request
        return orjson.dumps(_without_surrogates(document))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _without_surrogates(content) for key, content in value.items()}
    return [_without_surrogates(content) for content in value] if isinstance(value, list) else value
