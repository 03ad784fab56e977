# SPDX-License-Identifier: Apache-2.0

"""Handler of /reshaper: move inventories and allocations in one step."""

from __future__ import annotations

from plimsoll.api.placement.bodies.reshape import reshape_of
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.http.response import Response
from plimsoll.service import reshape as service


def reshape(call: ApiRequest) -> Response:
    request = reshape_of(call.body(), call.version, call.permit.periodic_yield())
    accepted(service.reshape(call.placement, call.actor, request))
    return Response(204)
