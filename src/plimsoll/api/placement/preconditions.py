# SPDX-License-Identifier: Apache-2.0

"""What a route checks before it asks who may do this: version, and the media types in and out.

Routes list their checks in the order in which they are made, because a request can fail several and clients see
the first.
"""

from __future__ import annotations

from collections.abc import Callable

from webob.acceptparse import create_accept_header

from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.queries.query import parsed
from plimsoll.api.placement.request import ApiRequest
from plimsoll.bounded_cache import bounded_cache
from plimsoll.http.problems import JSON, Problem

Check = Callable[[ApiRequest], None]

METHOD_NOT_ALLOWED = "The method specified is not allowed for this resource."


def since(feature: Feature, otherwise: int = 404) -> Check:
    """The route exists from a feature on."""

    def check(call: ApiRequest) -> None:
        if not call.version.has(feature):
            raise Problem(otherwise, _since_when(feature, call))

    return check


def _since_when(feature: Feature, call: ApiRequest) -> str:
    return (
        f"{call.environ['REQUEST_METHOD']} of this resource exists since microversion {feature.version}."
        f" The version of this request is {call.version}."
    )


def answers_json(call: ApiRequest) -> None:
    """The client takes JSON, or does not say what it takes."""
    if not _takes_json(call.environ.get("HTTP_ACCEPT")):
        raise Problem(406, f"Only {JSON} is provided")


def takes_json(call: ApiRequest) -> None:
    """The client sends JSON, and says so in these letters."""
    environ = call.environ
    given = environ.get("CONTENT_TYPE", "").split(";", 1)[0]
    if given != JSON:
        if not given:
            given = environ["CONTENT_TYPE"] = "None"
        raise Problem(415, f"The media type {given} is not supported, use {JSON}")


def only_with(parameter: str, feature: Feature, allow: str) -> Check:
    """The route exists from a feature on, and for requests with this parameter; others may use these methods."""

    def check(call: ApiRequest) -> None:
        if not _gives(parameter, call.query_string):
            raise Problem(405, METHOD_NOT_ALLOWED, allow=allow)
        if not call.version.has(feature):
            raise Problem(405, f"{METHOD_NOT_ALLOWED} {_since_when(feature, call)}", allow=allow)

    return check


def _gives(parameter: str, query_string: str) -> bool:
    try:
        return parameter in parsed(query_string)
    except Problem:  # what cannot be read gives nothing
        return False


@bounded_cache(max_entries=256, max_bytes=256 << 10)
def _takes_json(accept: str | None) -> bool:
    header = create_accept_header(accept)
    return not header or bool(header.acceptable_offers([JSON]))
