# SPDX-License-Identifier: Apache-2.0

"""The faults of the reference's searches, each with the narrowest test for it.

Where the right answer can be had from the reference itself by another question, it is asked for.
"""

import re
from dataclasses import replace
from typing import Any

from tests.differential.case import Case
from tests.differential.compare import bag
from tests.differential.ratios import (
    Place,
    amounts_of,
    disputed,
    only_disputed_candidates_differ,
    only_disputed_providers_differ,
    used_places,
)
from tests.differential.requests import Request
from tests.differential.state import State

TREES, MAPPINGS = 29, 34  # the minor versions from which searches use trees, and tell which group is where


def groups(request: Request) -> dict[str, dict[str, int]]:
    """The amounts asked for, by suffix and class."""
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
    """Ours are the right amounts: those that the reference finds when asked without isolation, isolated here."""
    if not both_found_candidates(case) or "none" in case.request.values("group_policy")[:1]:
        return False
    asked = groups(case.request)
    unsuffixed = asked.pop("", {})
    may_meet = [unsuffixed, *asked.values()] if _has_another_policy(case.request) else [unsuffixed]
    if not any(one.keys() & other.keys() for one in may_meet for other in asked.values() if one is not other):
        return False
    if case.against_reference:
        return True
    right, ours = right_amounts(case), case.ours.json()["allocation_requests"]
    return bag(right) == bag(ours) or only_shared_ones_are_missing(right, ours, case)


def _has_another_policy(request: Request) -> bool:
    """Of a repeated group_policy the last is checked and the first is used: a word that is neither of the two known ones."""
    return any(policy not in ("none", "isolate") for policy in request.values("group_policy")[:1])


def suffixes(request: Request) -> set[str]:
    """Of all groups that have one, also of those that ask for no resources."""
    found = (re.fullmatch(r"(resources|required|member_of|in_tree)(.+)", name) for name, _ in request.query)
    return {match[2] for match in found if match}


def right_amounts(case: Case) -> list[Any]:
    """The answer to the same question with group_policy=none, which the reference sums rightly, isolated here."""
    version = case.request.version
    isolate = len(suffixes(case.request)) > 1 and "isolate" in case.request.values("group_policy")[:1]
    question = case.request.without("group_policy").without("limit")
    question = replace(question, query=(*question.query, ("group_policy", "none")))
    if isolate and not version >= MAPPINGS:
        question = question.with_header("openstack-api-version", f"placement 1.{MAPPINGS}")
    found: list[Any] = case.ask_reference(question).json()["allocation_requests"]
    if isolate:
        found = [request for request in found if isolated(request["mappings"])]
        if not version >= TREES:
            found = [request for request in found if one_of_each_tree(request, case.state)]
    if not version >= MAPPINGS:
        found = [{"allocations": request["allocations"]} for request in found]
    return found


def one_of_each_tree(request: dict[str, Any], state: State) -> bool:
    """Older versions do not see candidates that use several providers of one tree."""
    roots = [state.providers[provider].root for provider, _ in amounts_of(request)]
    return len(roots) == len(set(roots))


def isolated(mappings: dict[str, list[str]]) -> bool:
    """Whether the suffixed groups use different providers."""
    providers = [uuid for suffix, uuids in mappings.items() if suffix for uuid in uuids]
    return len(providers) == len(set(providers))


def merges_anchors(case: Case) -> bool:
    if not both_found_candidates(case):
        return False
    there, here = case.reference.json(), case.ours.json()
    if there["provider_summaries"].keys() - here["provider_summaries"].keys():
        return False
    # Both faults may show in one answer: what hangs on the digits of a ratio is the other one's.
    places = disputed_places(case)
    certain_there, certain_here = (
        [request for request in body["allocation_requests"] if not places & set(used_places(request))]
        for body in (there, here)
    )
    return bag(certain_there) != bag(certain_here) and only_shared_ones_are_missing(
        certain_there, certain_here, case
    )


def only_shared_ones_are_missing(there: list[Any], here: list[Any], case: Case) -> bool:
    """Ours has all of theirs, and each further one takes the whole unsuffixed group from sharing providers."""
    asked, sharing = groups(case.request), case.state.sharing()
    unsuffixed = asked.pop("", {})
    known = bag(there)
    if not unsuffixed or not asked or known - bag(here):
        return False
    return all(
        any(provider in sharing and name in amounts for provider, amounts in amounts_of(request))
        for request in here
        if not bag([request]) & known
        for name in unsuffixed
    )


def reckons_twice(case: Case) -> bool:
    """Searches reckon with more digits of a ratio than claims: only what hangs on those may differ."""
    if (case.reference.status, case.ours.status) != (200, 200) or case.request.method != "GET":
        return False
    places = disputed_places(case)
    there, here = case.reference.json(), case.ours.json()
    if case.request.path == "/allocation_candidates":
        return both_found_candidates(case) and only_disputed_candidates_differ(there, here, places)
    if case.request.path == "/resource_providers":
        return only_disputed_providers_differ(there, here, places)
    return False


def disputed_places(case: Case) -> set[Place]:
    return disputed(case.state, [pair for group in groups(case.request).values() for pair in group.items()])


def trusts_the_first_limit(case: Case) -> bool:
    """Ours may refuse the request or answer it in full, but has to do one of the two."""
    limits = case.request.values("limit")
    odd = len(limits) > 1 and not (limits[0].isdecimal() and limits[0] != "0")
    return case.request.path == "/allocation_candidates" and odd and case.ours.status in (200, 400)
