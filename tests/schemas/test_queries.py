# SPDX-License-Identifier: Apache-2.0

"""Every query string at every version, good and spoilt: the verdict, the words and the meaning are the reference's."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.api.placement.features import Feature
from plimsoll.api.placement.microversion import VERSIONS, Version
from plimsoll.api.placement.queries.candidates import candidates_request
from plimsoll.api.placement.queries.providers import providers_request
from plimsoll.api.placement.queries.traits import TraitsRequest, traits_request
from plimsoll.api.placement.queries.usages import Owner, usages_request
from plimsoll.domain.inventory import MAX_INT
from plimsoll.http.problems import UNDEFINED, Problem
from plimsoll.search.request import CandidatesRequest, Conditions, ProvidersRequest
from tests.differential.wording import same_meaning
from tests.schemas.judge import needs_the_reference, reference_verdicts
from tests.schemas.query_strings import GOOD, query_strings

PER_VERSION = 30


def traits_meant(filters: dict[str, Any]) -> TraitsRequest:
    names = filters.get("name_in")
    return TraitsRequest(
        among=None if names is None else frozenset(names),
        prefix=filters.get("prefix"),
        associated=filters.get("associated"),
    )


def conditions_meant(part: dict[str, Any]) -> Conditions:
    return Conditions(
        required=tuple(frozenset(any_of) for any_of in part.get("required_traits", ())),
        forbidden=frozenset(part.get("forbidden_traits", ())),
        member_of=tuple(frozenset(any_of) for any_of in part.get("member_of", ())),
        not_member_of=frozenset(part.get("forbidden_aggs", ())),
        in_tree=part.get("in_tree"),
    )


def amounts_meant(amounts: dict[str, int]) -> dict[str, int]:
    """We do not tell apart amounts that no inventory could give."""
    return {name: min(amount, MAX_INT + 1) for name, amount in amounts.items()}


def providers_meant(filters: dict[str, Any]) -> ProvidersRequest:
    return ProvidersRequest(
        uuid=filters.get("uuid"),
        name=filters.get("name") or None,
        conditions=conditions_meant(filters),
        resources=amounts_meant(filters.get("resources", {})),
    )


def candidates_meant(value: dict[str, Any]) -> dict[str, Any]:
    wide = value["wide"]
    return {
        "groups": [
            (suffix, amounts_meant(group["resources"]), conditions_meant(group))
            for suffix, group in value["groups"]
        ],
        "limit": wide["limit"] or None,
        "isolate": wide["group_policy"] == "isolate",
        "root": (
            frozenset(wide["anchor_required_traits"] or ()),
            frozenset(wide["anchor_forbidden_traits"] or ()),
        ),
        "subtrees": [frozenset(suffixes) for suffixes in wide["same_subtrees"]],
        "nested": value["nested"],
    }


def candidates_understood(text: str, version: Version) -> dict[str, Any]:
    request: CandidatesRequest = candidates_request(text, version)
    return {
        "groups": [(group.suffix, dict(group.resources), group.conditions) for group in request.groups],
        "limit": request.limit,
        "isolate": request.group_policy == "isolate",
        "root": (request.root_required, request.root_forbidden),
        "subtrees": list(request.same_subtrees),
        "nested": request.nested,
    }


UNDERSTOOD: dict[str, Callable[[str, Version], Any]] = {
    "GET /resource_providers": providers_request,
    "GET /allocation_candidates": candidates_understood,
    "GET /traits": traits_request,
    "GET /usages": usages_request,
}
MEANT: dict[str, Callable[[Any], Any]] = {
    "GET /resource_providers": providers_meant,
    "GET /allocation_candidates": candidates_meant,
    "GET /traits": traits_meant,
    "GET /usages": lambda value: Owner(*value),
}
SINCE = {
    "GET /allocation_candidates": Feature.CANDIDATES,
    "GET /traits": Feature.TRAITS,
    "GET /usages": Feature.OWNER_USAGES,
}


@needs_the_reference
@pytest.mark.parametrize("route", GOOD)
def test_a_query_string_means_what_it_means_to_the_reference(route: str) -> None:
    dice = random.Random(f"queries of {route}")
    cases: list[dict[str, Any]] = [
        {"route": route, "minor": version.minor, "query": text}
        for version in VERSIONS
        if route not in SINCE or version.has(SINCE[route])
        for text in query_strings(route, version.minor, dice, PER_VERSION)
    ]
    understood = refused = 0
    for case, theirs in zip(cases, reference_verdicts(cases), strict=True):
        if "%0A" in case["query"]:
            continue  # a line end at the end of a name or value: the reference takes it, see docs/differences.md
        try:
            ours = UNDERSTOOD[route](case["query"], VERSIONS[case["minor"]])
        except Problem as problem:
            assert problem.status == 400
            assert theirs["status"] in (400, 500) or "limit" in problem.detail, case
            if theirs["status"] == 400:
                assert same_refusal(problem, theirs), (case, problem.detail, theirs)
            refused += 1
        else:
            assert theirs["status"] == 200, (case, theirs)
            assert ours == MEANT[route](theirs["value"]), case
            understood += 1
    assert understood > len(cases) / 4, "too few good query strings to be worth the name"
    assert refused > len(cases) / 10, "too few bad query strings to be worth the name"


def same_refusal(problem: Problem, theirs: dict[str, Any]) -> bool:
    if problem.code != (theirs["code"] or UNDEFINED):
        return False
    if same_meaning(theirs["detail"], problem.detail):
        return True
    # Of several bad uuids in one set, the reference names any.
    start = "Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s)."
    return problem.detail.startswith(start) and theirs["detail"].startswith(start)
