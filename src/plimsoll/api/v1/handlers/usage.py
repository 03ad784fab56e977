# SPDX-License-Identifier: Apache-2.0

"""Capacity and usage by resource class, whole or by group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plimsoll.api.v1.as_of import AT
from plimsoll.api.v1.computations import computation, wait_for_memory
from plimsoll.api.v1.documents.changes import GONE
from plimsoll.api.v1.documents.usage import GROUPINGS, OF_OWNERS, USAGE
from plimsoll.api.v1.lists import MAX_AT_ONCE, list_response
from plimsoll.api.v1.owners import visible_project
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import JSON, NDJSON, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.views import usage as views
from plimsoll.domain.utilisation import ProviderTotals
from plimsoll.http.problems import BAD_PARAMETER, Problem
from plimsoll.service import usage_report as report
from plimsoll.service.usage_report import OwnerTotals

_OF_PROVIDERS = {"aggregate": report.by_aggregate, "trait": report.by_trait, "root": report.by_root}
_BY_OWNER = {"project": report.by_project, "user": report.by_user, "consumer_type": report.by_consumer_type}


def show(call: V1Request) -> V1Response:
    grouping: str | None = call.values.get("group_by")
    project = None
    if grouping in OF_OWNERS:
        project = visible_project(call)
    elif "project" in call.values:
        raise Problem(400, f"The parameter project needs group_by={', '.join(OF_OWNERS)}.", BAD_PARAMETER)
    # Callers with the same URL may see different projects.
    etag = call.etag(call.visibility if grouping in OF_OWNERS else "")
    unchanged = call.unchanged(etag)
    if unchanged is not None:
        return unchanged
    with computation(call.permit):
        groups, following = _page(_groups(call, grouping, project), call.values)
        if len(groups) > MAX_AT_ONCE:
            wait_for_memory(call.permit)
        response = list_response(
            call,
            "groups",
            groups,
            views.groups,
            etag=etag,
            following=following,
            members={"group_by": grouping},
        )
        # Groups take more memory than their JSON: a client that receives slowly must not keep them.
        return response.complete()


def _groups(call: V1Request, grouping: str | None, project: str | None) -> list[views.Group]:
    """Return all groups, in the order of their keys; the one without a key is the last."""
    world = call.placement.world()
    found: Mapping[str | None, ProviderTotals | OwnerTotals]
    if grouping is None:
        found = {None: report.of_all(world, call.pauses())}
    elif grouping in _BY_OWNER:
        found = _BY_OWNER[grouping](call.placement, project, call.permit.periodic_yield())
    else:
        found = _OF_PROVIDERS[grouping](world, call.pauses())
    groups: list[views.Group] = [
        (key, world.providers[key].name if grouping == "root" else None, found[key])
        for key in sorted(key for key in found if key is not None)
    ]
    if None in found:
        groups.append((None, None, found[None]))
    return groups


def _page(groups: list[views.Group], values: Mapping[str, Any]) -> tuple[list[views.Group], str | None]:
    """Return the groups of the wanted page, and the cursor of the next one."""
    after, limit = values.get("after"), values.get("limit")
    if after is not None:
        groups = [each for each in groups if each[0] is None or each[0] > after]
    if limit is None or len(groups) <= limit:
        return groups, None
    return groups[:limit], groups[limit - 1][0]


ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/usage",
        handler=show,
        rule="plimsoll:usage:show",
        summary="Show capacity and usage by resource class",
        description=(
            "Without `group_by`, one group with the sums of all providers. Groups of providers (aggregate, trait, root) have"
            " capacity and usage; a provider counts in each of its aggregates and traits. Groups of consumers (project,"
            " user, consumer_type) have the usage; callers that may not see all projects get that of their own one."
        ),
        parameters=(
            Parameter(
                "group_by", "What the groups have in common.", {"type": "string", "enum": [*GROUPINGS]}
            ),
            Parameter(
                "project",
                "Only consumers of this project. For groups of consumers.",
                {"type": "string", "minLength": 1, "maxLength": 255},
            ),
            Parameter(
                "limit", "The largest number of groups. Without it: all.", {"type": "integer", "minimum": 1}
            ),
            Parameter("after", "`next` of the page before this one.", {"type": "string", "maxLength": 255}),
            AT,
        ),
        returns={200: USAGE, 410: GONE},
        formats=(JSON, NDJSON),
    ),
)
