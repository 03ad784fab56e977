# SPDX-License-Identifier: Apache-2.0

"""Usage. The time of its last change is not stored, so `last-modified` is the current time."""

from __future__ import annotations

from plimsoll.api.placement.bodies.patterns import LONGEST_OWNER
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.queries.query import parse_query
from plimsoll.api.placement.queries.usages import Owner
from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.views import usages as views
from plimsoll.http.response import Response, json_response, now
from plimsoll.service import usages


def of_provider(call: ApiRequest) -> Response:
    return json_response(views.of_provider(call.provider()), now())


def requested_project(call: ApiRequest) -> dict[str, str | None]:
    """Return the target of the policy rule: a reader of a project may read the usage of that project.

    A project id that is too long is refused here, before the policy is evaluated.
    """
    project = parse_query(call.query_string).last("project_id")
    if project is not None and len(project) > LONGEST_OWNER:
        call.query()  # raises the violation of the schema
    return {"project_id": project}


def of_owner(call: ApiRequest) -> Response:
    owner: Owner = call.query()
    if call.version.has(F.CONSUMER_TYPES):
        by_type = usages.by_consumer_type(call.placement, owner.project, owner.user, owner.consumer_type)
        return json_response(views.by_type(by_type), now())
    return json_response(views.of_owner(usages.of_owner(call.placement, owner.project, owner.user)), now())
