# SPDX-License-Identifier: Apache-2.0

"""Explain a search for allocation candidates."""

from __future__ import annotations

from plimsoll.api.placement.errors import Refused, problem_of
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.query import parse_query
from plimsoll.api.placement.request import accepted
from plimsoll.api.v1.as_of import AT
from plimsoll.api.v1.computations import computation
from plimsoll.api.v1.documents import explain as documents
from plimsoll.api.v1.documents.changes import GONE
from plimsoll.api.v1.request import REFUSALS_AS_OF, V1Request
from plimsoll.api.v1.response import JSON, TEXT, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.api.v1.views import explain as views
from plimsoll.api.v1.views import explain_text
from plimsoll.api.v1.views.make_room import ShownMovePlans
from plimsoll.api.v1.views.since_when import ShownSinceWhen
from plimsoll.domain.provider import Provider
from plimsoll.domain.refusals import ResourceClassMissing, TraitsMissing
from plimsoll.domain.world import World
from plimsoll.http.problems import BAD_PARAMETER, Problem
from plimsoll.search.explain.explanation import ShownHosts, Verdict
from plimsoll.search.explain.host_explanations import MAX_EXAMPLES
from plimsoll.search.explain.usual_causes import near_names
from plimsoll.search.request import CandidatesRequest
from plimsoll.service import candidates
from plimsoll.service.explain import Suggestions, explain_search, suggest
from plimsoll.service.make_room import MovePlans, find_move_plans
from plimsoll.service.since_when import since_when

_NO_MOVES_IN_THE_PAST = "make_room cannot be combined with at: the change log has no list of the consumers that each provider had then."
VERDICT_HEADER = "plimsoll-verdict"
"""With which an explanation as text carries its verdict."""


def show(call: V1Request) -> V1Response:
    request = candidates_request(call.candidates_query, call.version)
    if "at" in call.values and parse_query(call.query_string).all("make_room") and call.values["make_room"]:
        raise Problem(400, _NO_MOVES_IN_THE_PAST, BAD_PARAMETER)
    named = call.values.get("provider")
    provider = None if named is None else call.provider_named(named)
    # Which consumers are shown depends on the caller's project.
    project = None if call.sees_all_projects else call.caller.project_id or ""
    etag = call.etag(str(call.version), call.visibility)
    unchanged = call.unchanged(etag)
    if unchanged is not None:
        return unchanged
    with computation(call.permit):
        return _explained(call, request, provider, project, etag)


def _explained(
    call: V1Request, request: CandidatesRequest, provider: Provider | None, project: str | None, etag: str
) -> V1Response:
    permit, is_past = call.permit, "at" in call.values
    budget = candidates.budget(call.placement, permit.pause, permit.is_client_gone)
    shown = ShownHosts(call.values["examples"], call.values.get("clause"))
    found = explain_search(call.placement, request, provider, budget, shown)
    if isinstance(found, TraitsMissing | ResourceClassMissing):
        raise _with_near_names(found, call.placement.world())
    explained = accepted(found)
    if shown.clause is not None and shown.clause > len(explained.clauses):
        count = len(explained.clauses)
        raise Problem(
            400, f"The parameter clause is {shown.clause}, but this query has {count} clauses.", BAD_PARAMETER
        )
    suggestions = Suggestions()
    if call.values["relax"]:
        outcome = suggest(call.placement, request, explained, permit.pause, permit.is_client_gone)
        suggestions = accepted(outcome)
    move_plans = MovePlans()
    if is_past and explained.verdict == Verdict.NOT_NOW:
        move_plans = MovePlans(is_complete=False)
    elif call.values["make_room"] and explained.verdict == Verdict.NOT_NOW:
        move_plans = accepted(find_move_plans(call.placement, request, permit.pause, permit.is_client_gone))
    snapshot = call.placement.snapshot()
    since = None
    if call.values["since_when"] and explained.verdict != Verdict.FOUND:
        found_since = since_when(call.placement, request, permit.pause, permit.is_client_gone)
        since = ShownSinceWhen(found_since, snapshot.world, project)
    document = views.ExplanationDocument(
        snapshot.revision,
        call.candidates_query,
        request,
        explained,
        suggestions,
        ShownMovePlans(move_plans, snapshot.world, project),
        since,
    )
    headers = ((VERDICT_HEADER, str(explained.verdict)),)
    body = explain_text.text(document).encode() if call.format == TEXT else views.explanation(document)
    is_final = explained.is_complete and suggestions.is_complete and not move_plans.is_cut_short
    if since is not None and not since.found.is_exact:
        is_final = False  # later there may be less of the log, or more time
    return V1Response(body, content_type=call.format, etag=etag if is_final else None, headers=headers)


def _with_near_names(refusal: TraitsMissing | ResourceClassMissing, world: World) -> Problem:
    """Return the error of the Placement API for an unknown name, with names that are nearly this one."""
    problem = problem_of(Refused(refusal, {}), REFUSALS_AS_OF, {})
    if isinstance(refusal, TraitsMissing):
        near = [name for each in refusal.names for name in near_names(each, world.traits)]
    else:
        near = near_names(refusal.name, world.classes)
    problem.append(f"Near names: {', '.join(near)}." if near else "")
    return problem


_SWITCH = {"type": "boolean", "default": True}

ROUTES = (
    V1Route(
        method="GET",
        path="/plimsoll/v1/explain",
        handler=show,
        rule="plimsoll:explain:show",
        summary="Explain why a search has candidates, or none",
        description=(
            "The query is that of GET /allocation_candidates, in the microversion of the header"
            " `openstack-api-version`, the newest without it. A query that the Placement API refuses is refused alike."
        ),
        parameters=(
            Parameter(
                "provider",
                "The uuid or name of a provider: why its host has candidates, or none.",
                {"type": "string", "minLength": 1, "maxLength": 255},
                example="compute-7",
            ),
            Parameter(
                "examples",
                "How many hosts without candidates are shown, the nearest first.",
                {"type": "integer", "minimum": 0, "maximum": 100, "default": MAX_EXAMPLES},
            ),
            Parameter(
                "clause",
                "The number of a clause: the examples are hosts that this clause removes.",
                {"type": "integer", "minimum": 1, "maximum": 1000},
            ),
            Parameter(
                "relax", "Whether to search for changes of the query that would give candidates.", _SWITCH
            ),
            Parameter(
                "make_room",
                "Whether to search for consumers that could be moved to make room. Not with `at`.",
                _SWITCH,
            ),
            Parameter(
                "since_when",
                "Whether to search, if there are no candidates, for the change after which there were none.",
                {"type": "boolean", "default": False},
            ),
            AT,
        ),
        returns={200: documents.EXPLANATION, 404: None, 410: GONE},
        formats=(JSON, TEXT),
        candidates_query=True,
    ),
)
