# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI documents of both APIs, and the reference page that shows them."""

from __future__ import annotations

import re

from plimsoll.api.openapi import library
from plimsoll.api.openapi.page import reference_page
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS, Version
from plimsoll.api.v1.documents.openapi import OPENAPI
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.http.problems import LONGEST_QUOTE, Problem, shorten

HTML = "text/html"
_BY_TEXT = {version.text: version for version in VERSIONS}
_document_name = re.compile(r"placement-(.*)\.json").fullmatch


def _routes() -> tuple[V1Route, ...]:
    # Not at the top: the table of routes imports this module for its own routes.
    from plimsoll.api.v1.routes import ROUTES

    return ROUTES


def of_v1(call: V1Request) -> V1Response:
    return _document(call, library.v1_json(_routes(), call.pauses()))


def of_placement(call: V1Request) -> V1Response:
    name = call.params["document"]
    found = _document_name(name)
    version = _BY_TEXT.get(found[1]) if found else None
    if version is None:
        raise Problem(
            404,
            f"There is no document {shorten(name, LONGEST_QUOTE)}. There are placement-{LOWEST}.json to"
            f" placement-{HIGHEST}.json.",
        )
    return _document(call, library.placement_json(version, call.pauses()))


def _document(call: V1Request, encoded: library.Encoded) -> V1Response:
    prefix = str(call.environ.get("SCRIPT_NAME", ""))
    etag = encoded.etag(prefix)
    return call.unchanged(etag) or V1Response(encoded.body(prefix), etag=etag)


def page(call: V1Request) -> V1Response:
    version: Version = _BY_TEXT[call.values["version"]]
    shown = reference_page(_routes(), version, call.pauses())
    return V1Response(shown.body, content_type=HTML, etag=shown.etag, headers=shown.headers)


ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/openapi.json",
        handler=of_v1,
        rule=None,
        summary="The OpenAPI document of this API",
        returns={200: OPENAPI},
    ),
    V1Route(
        method="GET",
        path="/plimsoll/v1/openapi/{document}",
        handler=of_placement,
        rule=None,
        summary="The OpenAPI document of the Placement API at one microversion",
        description=f"The documents are `placement-{LOWEST}.json` to `placement-{HIGHEST}.json`.",
        returns={200: OPENAPI},
    ),
    V1Route(
        method="GET",
        path="/plimsoll/v1/docs",
        handler=page,
        rule=None,
        summary="The reference page of both APIs",
        description="It loads nothing from elsewhere.",
        parameters=(
            Parameter(
                "version",
                "The microversion of the Placement API that the page shows.",
                {"type": "string", "enum": [version.text for version in VERSIONS], "default": HIGHEST.text},
                example=HIGHEST.text,
            ),
            Parameter(
                "q",
                "The page shows only operations with these words. The script of the page reads it.",
                {"type": "string", "maxLength": 200},
            ),
        ),
        returns={200: None},
        formats=(HTML,),
    ),
)
