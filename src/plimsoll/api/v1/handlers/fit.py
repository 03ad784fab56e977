# SPDX-License-Identifier: Apache-2.0

"""How many instances of a request for allocation candidates still fit."""

from __future__ import annotations

from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.request import accepted
from plimsoll.api.v1.as_of import AT
from plimsoll.api.v1.computations import computation
from plimsoll.api.v1.documents import fit as documents
from plimsoll.api.v1.documents.changes import GONE
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import V1Response
from plimsoll.api.v1.route import V1Route
from plimsoll.api.v1.views import fit as views
from plimsoll.service.fit import fit_request


def show(call: V1Request) -> V1Response:
    request = candidates_request(call.candidates_query, call.version)
    etag = call.etag(str(call.version))
    unchanged = call.unchanged(etag)
    if unchanged is not None:
        return unchanged
    permit = call.permit
    with computation(permit):
        report = accepted(fit_request(call.placement, request, permit.pause, permit.is_client_gone))
    body = views.fit(report, call.placement.snapshot().revision)
    is_final = report.now.is_complete and report.empty.is_complete
    return V1Response(body, etag=etag if is_final else None)


ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/fit",
        handler=show,
        rule="plimsoll:fit:show",
        summary="Count how many instances of a request still fit",
        description=(
            "The query is that of GET /allocation_candidates, in the microversion of the header"
            " `openstack-api-version`, the newest without it. A query that the Placement API refuses is refused alike."
            " `limit` has no effect."
        ),
        parameters=(AT,),
        returns={200: documents.FIT, 410: GONE},
        candidates_query=True,
    ),
)
