# SPDX-License-Identifier: Apache-2.0

"""Known faults of the reference's searches, each with the narrowest check for it.

Where another request to the reference returns the correct result, the check sends that request.
"""

import re
from dataclasses import replace
from typing import Any

from tests.differential.case import Case
from tests.differential.compare import multiset
from tests.differential.ratios import (
    InventoryKey,
    ambiguous_inventories,
    amounts_of,
    only_ambiguous_candidates_differ,
    only_ambiguous_providers_differ,
    used_keys,
)
from tests.differential.requests import Request
from tests.differential.state import State

TREES, MAPPINGS = 29, 34  # first minor versions with searches in trees, and with mappings


def groups(request: Request) -> dict[str, dict[str, int]]:
    """Return the requested amounts, by suffix and class."""
    found: dict[str, dict[str, int]] = {}
    for name, value in request.query:
        if name.startswith("resources"):
            pairs = [pair.split(":") for pair in value.split(",")]
            found[name.removeprefix("resources")] = {pair[0]: int(pair[1]) for pair in pairs}
    return found


def both_found_candidates(case: Case) -> bool:
    return (
        case.request.path == "/allocation_candidates"
        and (case.reference.status, case.ours.status) == (200, 200)
        and all(line.startswith(("candidates:", "provider_summaries")) for line in case.verdict.differences)
    )


def sums_in_place(case: Case) -> bool:
    """True if ours are the correct amounts: those of the reference with group_policy=none, isolated by this check."""
    if not both_found_candidates(case) or "none" in case.request.values("group_policy")[:1]:
        return False
    requested = groups(case.request)
    unsuffixed = requested.pop("", {})
    overlapping = [unsuffixed, *requested.values()] if _has_another_policy(case.request) else [unsuffixed]
    if not any(
        one.keys() & other.keys() for one in overlapping for other in requested.values() if one is not other
    ):
        return False
    if case.against_reference:
        return True
    correct, ours = correct_candidates(case), case.ours.json()["allocation_requests"]
    return multiset(correct) == multiset(ours) or only_sharing_candidates_are_missing(correct, ours, case)


def _has_another_policy(request: Request) -> bool:
    """True if the effective group_policy is unknown: the reference validates the last one and uses the first."""
    return any(policy not in ("none", "isolate") for policy in request.values("group_policy")[:1])


def suffixes(request: Request) -> set[str]:
    """Return the suffixes of all groups, including groups without resources."""
    found = (re.fullmatch(r"(resources|required|member_of|in_tree)(.+)", name) for name, _ in request.query)
    return {match[2] for match in found if match}


def correct_candidates(case: Case) -> list[Any]:
    """Return the candidates for group_policy=none, which the reference sums correctly, isolated by this check."""
    version = case.request.version
    isolate = len(suffixes(case.request)) > 1 and "isolate" in case.request.values("group_policy")[:1]
    request = case.request.without("group_policy").without("limit")
    request = replace(request, query=(*request.query, ("group_policy", "none")))
    if isolate and not version >= MAPPINGS:
        request = request.with_header("openstack-api-version", f"placement 1.{MAPPINGS}")
    found: list[Any] = case.send_to_reference(request).json()["allocation_requests"]
    if isolate:
        found = [request for request in found if isolated(request["mappings"])]
        if not version >= TREES:
            found = [request for request in found if uses_each_tree_once(request, case.state)]
    if not version >= MAPPINGS:
        found = [{"allocations": request["allocations"]} for request in found]
    return found


def uses_each_tree_once(request: dict[str, Any], state: State) -> bool:
    """False if the candidate uses several providers of one tree, which older versions do not return."""
    roots = [state.providers[provider].root for provider, _ in amounts_of(request)]
    return len(roots) == len(set(roots))


def isolated(mappings: dict[str, list[str]]) -> bool:
    """True if the suffixed groups use different providers."""
    providers = [uuid for suffix, uuids in mappings.items() if suffix for uuid in uuids]
    return len(providers) == len(set(providers))


def merges_anchors(case: Case) -> bool:
    if not both_found_candidates(case):
        return False
    expected, actual = case.reference.json(), case.ours.json()
    if expected["provider_summaries"].keys() - actual["provider_summaries"].keys():
        return False
    # One response may have both faults: candidates that depend on the digits of a ratio are `uses_two_precisions`.
    keys = ambiguous_keys(case)
    certain_expected, certain_actual = (
        [request for request in body["allocation_requests"] if not keys & set(used_keys(request))]
        for body in (expected, actual)
    )
    return multiset(certain_expected) != multiset(certain_actual) and only_sharing_candidates_are_missing(
        certain_expected, certain_actual, case
    )


def only_sharing_candidates_are_missing(expected: list[Any], actual: list[Any], case: Case) -> bool:
    """True if ours has all expected candidates, and the others use sharing providers for the whole unsuffixed group."""
    requested, sharing = groups(case.request), case.state.sharing()
    unsuffixed = requested.pop("", {})
    expected_counts = multiset(expected)
    if not unsuffixed or not requested or expected_counts - multiset(actual):
        return False
    return all(
        any(provider in sharing and name in amounts for provider, amounts in amounts_of(request))
        for request in actual
        if not multiset([request]) & expected_counts
        for name in unsuffixed
    )


def uses_two_precisions(case: Case) -> bool:
    """Searches use more digits of a ratio than claims: only results that depend on these digits may differ."""
    if (case.reference.status, case.ours.status) != (200, 200) or case.request.method != "GET":
        return False
    keys = ambiguous_keys(case)
    expected, actual = case.reference.json(), case.ours.json()
    if case.request.path == "/allocation_candidates":
        return both_found_candidates(case) and only_ambiguous_candidates_differ(expected, actual, keys)
    if case.request.path == "/resource_providers":
        return only_ambiguous_providers_differ(expected, actual, keys)
    return False


def ambiguous_keys(case: Case) -> set[InventoryKey]:
    return ambiguous_inventories(
        case.state, [pair for group in groups(case.request).values() for pair in group.items()]
    )


def uses_first_limit(case: Case) -> bool:
    """Plimsoll must either refuse the request or return the full result."""
    limits = case.request.values("limit")
    first_is_invalid = len(limits) > 1 and not (limits[0].isdecimal() and limits[0] != "0")
    return (
        case.request.path == "/allocation_candidates" and first_is_invalid and case.ours.status in (200, 400)
    )
