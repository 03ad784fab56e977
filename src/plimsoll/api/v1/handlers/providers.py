# SPDX-License-Identifier: Apache-2.0

"""Providers: everything about one or many at once."""

from __future__ import annotations

from plimsoll.api.v1.documents import providers as documents
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import V1Response
from plimsoll.api.v1.route import Route
from plimsoll.api.v1.views import providers as views
from plimsoll.http.problems import LONGEST_QUOTE, PROVIDER_NOT_FOUND, Problem, shorten
from plimsoll.service.names import find_provider


def show(call: V1Request) -> V1Response:
    snapshot, text = call.placement.snapshot(), call.params["provider"]
    provider = find_provider(snapshot.world, text)
    if provider is None:
        detail = f"No resource provider has the uuid or name '{shorten(text, LONGEST_QUOTE)}'."
        raise Problem(404, detail, PROVIDER_NOT_FOUND)
    etag = call.etag()
    return call.unchanged(etag) or V1Response(views.provider(provider, snapshot.revision), etag=etag)


ROUTES = (
    Route(
        method="GET",
        path="/plimsoll/v1/providers/{provider}",
        handler=show,
        rule="plimsoll:providers:show",
        summary="Show a provider with everything about it",
        description="The provider is given by its uuid or its name.",
        returns={200: documents.PROVIDER},
    ),
)
