# SPDX-License-Identifier: Apache-2.0

"""Usage. It is what it is now, so that is when it was last changed."""

from __future__ import annotations

from plimsoll.api.placement.bodies.patterns import LONGEST_OWNER
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.queries.query import parsed
from plimsoll.api.placement.queries.usages import usages_request
from plimsoll.api.placement.request import ApiRequest, accepted
from plimsoll.api.placement.views import usages as views
from plimsoll.http.response import Response, document, now
from plimsoll.service import providers, usages


def of_provider(call: ApiRequest) -> Response:
    provider = accepted(providers.get(call.placement, call.params["uuid"]))
    return document(views.of_provider(provider), now())


def project_asked_for(call: ApiRequest) -> dict[str, str | None]:
    """The target of the policy rule: a reader of a project may see the usage of that project.

    A text that is too long for the id of a project is refused here, so that the policy never sees it.
    """
    project = parsed(call.query_string).last("project_id")
    if project is not None and len(project) > LONGEST_OWNER:
        usages_request(call.query_string, call.version)  # raises the refusal of the schema
    return {"project_id": project}


def of_owner(call: ApiRequest) -> Response:
    owner = usages_request(call.query_string, call.version)
    if call.version.has(F.CONSUMER_TYPES):
        by_type = usages.by_consumer_type(call.placement, owner.project, owner.user, owner.consumer_type)
        return document(views.by_type(by_type), now())
    return document(views.of_owner(usages.of_owner(call.placement, owner.project, owner.user)), now())
