# SPDX-License-Identifier: Apache-2.0

"""Checks that run before the policy: version, media type of the request, media type of the response.

A request can fail several checks, and clients see the first. Each route therefore lists its checks in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from webob.acceptparse import create_accept_header

from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.queries.query import parse_query
from plimsoll.api.placement.request import ApiRequest
from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.problems import JSON, Problem

Check = Callable[[ApiRequest], None]

METHOD_NOT_ALLOWED = "The method specified is not allowed for this resource."


@dataclass(frozen=True, slots=True)
class Since:
    """Refuse versions without the feature, with the status `otherwise`."""

    feature: Feature
    otherwise: int = 404

    def __call__(self, call: ApiRequest) -> None:
        if not call.version.has(self.feature):
            raise Problem(self.otherwise, _since_text(self.feature, call))


def _since_text(feature: Feature, call: ApiRequest) -> str:
    return (
        f"{call.environ['REQUEST_METHOD']} of this resource exists since microversion {feature.version}."
        f" The version of this request is {call.version}."
    )


def accepts_json(call: ApiRequest) -> None:
    """Check that the client accepts JSON, or has no `accept` header."""
    if not _allows_json(call.environ.get("HTTP_ACCEPT")):
        raise Problem(406, f"Only {JSON} is provided")


def sends_json(call: ApiRequest) -> None:
    """Check that the content type is exactly `application/json`."""
    environ = call.environ
    given = environ.get("CONTENT_TYPE", "").split(";", 1)[0]
    if given != JSON:
        if not given:
            given = environ["CONTENT_TYPE"] = "None"
        raise Problem(415, f"The media type {given} is not supported, use {JSON}")


@dataclass(frozen=True, slots=True)
class OnlyWith:
    """Refuse requests without the parameter or the feature: a 405 with this `allow` header."""

    parameter: str
    feature: Feature
    allow: str

    def __call__(self, call: ApiRequest) -> None:
        if not _has_parameter(self.parameter, call.query_string):
            raise Problem(405, METHOD_NOT_ALLOWED, allow=self.allow)
        if not call.version.has(self.feature):
            detail = f"{METHOD_NOT_ALLOWED} {_since_text(self.feature, call)}"
            raise Problem(405, detail, allow=self.allow)


def _has_parameter(parameter: str, query_string: str) -> bool:
    try:
        return parameter in parse_query(query_string)
    except Problem:  # not UTF-8
        return False


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _allows_json(accept: str | None) -> bool:
    header = create_accept_header(accept)
    return not header or bool(header.acceptable_offers([JSON]))
