# SPDX-License-Identifier: Apache-2.0

"""Every query string at every version, valid and mutated: parsed or refused as by the reference, with the same text."""

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
from tests.schemas.query_strings import GOOD, query_strings
from tests.schemas.reference import ReferenceParsers, needs_the_reference

PER_VERSION = 30


def expected_traits(filters: dict[str, Any]) -> TraitsRequest:
    names = filters.get("name_in")
    return TraitsRequest(
        among=None if names is None else frozenset(names),
        prefix=filters.get("prefix"),
        associated=filters.get("associated"),
    )


def expected_conditions(part: dict[str, Any]) -> Conditions:
    return Conditions(
        required=tuple(frozenset(any_of) for any_of in part.get("required_traits", ())),
        forbidden=frozenset(part.get("forbidden_traits", ())),
        member_of=tuple(frozenset(any_of) for any_of in part.get("member_of", ())),
        not_member_of=frozenset(part.get("forbidden_aggs", ())),
        in_tree=part.get("in_tree"),
    )


def expected_amounts(amounts: dict[str, int]) -> dict[str, int]:
    """Limit the amounts: we replace amounts above any inventory by one amount."""
    return {name: min(amount, MAX_INT + 1) for name, amount in amounts.items()}


def expected_providers(filters: dict[str, Any]) -> ProvidersRequest:
    return ProvidersRequest(
        uuid=filters.get("uuid"),
        name=filters.get("name") or None,
        conditions=expected_conditions(filters),
        resources=expected_amounts(filters.get("resources", {})),
    )


def expected_candidates(value: dict[str, Any]) -> dict[str, Any]:
    wide = value["wide"]
    return {
        "groups": [
            (suffix, expected_amounts(group["resources"]), expected_conditions(group))
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


def parsed_candidates(text: str, version: Version) -> dict[str, Any]:
    request: CandidatesRequest = candidates_request(text, version)
    return {
        "groups": [(group.suffix, dict(group.resources), group.conditions) for group in request.groups],
        "limit": request.limit,
        "isolate": request.group_policy == "isolate",
        "root": (request.root_required, request.root_forbidden),
        "subtrees": list(request.same_subtrees),
        "nested": request.nested,
    }


PARSERS: dict[str, Callable[[str, Version], Any]] = {
    "GET /resource_providers": providers_request,
    "GET /allocation_candidates": parsed_candidates,
    "GET /traits": traits_request,
    "GET /usages": usages_request,
}
EXPECTED: dict[str, Callable[[Any], Any]] = {
    "GET /resource_providers": expected_providers,
    "GET /allocation_candidates": expected_candidates,
    "GET /traits": expected_traits,
    "GET /usages": lambda value: Owner(*value),
}
SINCE = {
    "GET /allocation_candidates": Feature.CANDIDATES,
    "GET /traits": Feature.TRAITS,
    "GET /usages": Feature.OWNER_USAGES,
}


@needs_the_reference
@pytest.mark.parametrize("route", GOOD)
def test_a_query_string_is_parsed_as_by_the_reference(reference: ReferenceParsers, route: str) -> None:
    rng = random.Random(f"queries of {route}")
    cases: list[dict[str, Any]] = [
        {"route": route, "minor": version.minor, "query": text}
        for version in VERSIONS
        if route not in SINCE or version.has(SINCE[route])
        for text in query_strings(route, version.minor, rng, PER_VERSION)
    ]
    parsed = refused = 0
    for case, theirs in zip(cases, reference.outcomes(cases), strict=True):
        if "%0A" in case["query"]:
            continue  # a name or value that ends with a line end: the reference accepts it, see docs/differences.md
        try:
            ours = PARSERS[route](case["query"], VERSIONS[case["minor"]])
        except Problem as problem:
            assert problem.status == 400
            assert theirs["status"] in (400, 500) or "limit" in problem.detail, case
            if theirs["status"] == 400:
                assert same_refusal(problem, theirs), (case, problem.detail, theirs)
            refused += 1
        else:
            assert theirs["status"] == 200, (case, theirs)
            assert ours == EXPECTED[route](theirs["value"]), case
            parsed += 1
    assert parsed > len(cases) / 4, "too few valid query strings"
    assert refused > len(cases) / 10, "too few invalid query strings"


def same_refusal(problem: Problem, theirs: dict[str, Any]) -> bool:
    if problem.code != (theirs["code"] or UNDEFINED):
        return False
    if same_meaning(theirs["detail"], problem.detail):
        return True
    # If a set has several invalid uuids, the reference names any of them.
    start = "Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s)."
    return problem.detail.startswith(start) and theirs["detail"].startswith(start)
