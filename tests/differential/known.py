# SPDX-License-Identifier: Apache-2.0

"""The faults of the reference that Plimsoll does not repeat, each with the narrowest test for it.

A difference that one of these explains is counted, not reported. docs/differences.md says the same in
plain words; a test holds the two lists together.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.differential.compare import Verdict, bag, document
from tests.differential.requests import Request
from tests.differential.servers import Answer
from tests.differential.state import State

TREES, MAPPINGS = 29, 34  # the minor versions from which searches use trees, and tell which group is where


@dataclass(frozen=True, slots=True)
class Case:
    """A request with both answers, the state it met, and a way to ask the reference something else."""

    request: Request
    reference: Answer
    ours: Answer
    verdict: Verdict
    state: State
    ask_reference: Callable[[Request], Answer]
    against_reference: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    reason: str
    explains: Callable[[Case], bool]


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
    if not any(unsuffixed.keys() & content.keys() for content in asked.values()):
        return False
    if case.against_reference:
        return True
    right, ours = right_amounts(case, len(asked)), case.ours.json()["allocation_requests"]
    return bag(right) == bag(ours) or only_shared_ones_are_missing(right, ours, case)


def right_amounts(case: Case, suffixed: int) -> list[Any]:
    """The answer to the same question with group_policy=none, which the reference sums rightly, isolated here."""
    version = case.request.version
    isolate = suffixed > 1 and "isolate" in case.request.values("group_policy")[:1]
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
    return only_shared_ones_are_missing(there["allocation_requests"], here["allocation_requests"], case)


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


def amounts_of(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, int]]]:
    """The (provider, amounts) of a candidate in either of its shapes."""
    allocations = request["allocations"]
    if isinstance(allocations, dict):
        yield from ((provider, content["resources"]) for provider, content in allocations.items())
    else:
        yield from ((content["resource_provider"]["uuid"], content["resources"]) for content in allocations)


def fails(case: Case) -> bool:
    """A 500 of the reference: ours has to answer what only asks, or to refuse."""
    asks = case.request.method == "GET" and case.ours.status == 200
    return case.reference.status == 500 and (asks or 400 <= case.ours.status < 500)


def trusts_the_first_limit(case: Case) -> bool:
    """Ours may refuse the request or answer it in full, but has to do one of the two."""
    limits = case.request.values("limit")
    odd = len(limits) > 1 and not (limits[0].isdecimal() and limits[0] != "0")
    return case.request.path == "/allocation_candidates" and odd and case.ours.status in (200, 400)


def shows_sql(case: Case) -> bool:
    return case.verdict.equal and "sqlite3.IntegrityError" in str(document(case.reference))


def names_any_one(case: Case) -> bool:
    """Of several traits that do not exist, each names one that was asked for."""
    asked = {
        trait.strip().lstrip("!")
        for name, value in case.request.query
        if name.startswith(("required", "root_required"))
        for trait in value.removeprefix("in:").split(",")
    }
    named = [
        re.search(r"No such trait\(s\): (.+?)\.\s", str(document(answer)))
        for answer in (case.reference, case.ours)
    ]
    return case.verdict.equal and len(asked) > 1 and all(match and match[1] in asked for match in named)


def dates_the_state_before(case: Case) -> bool:
    return (
        case.request.method == "PUT"
        and re.fullmatch("/resource_providers/[^/]+", case.request.path) is not None
        and (case.reference.status, case.ours.status) == (200, 200)
        and all(
            "last-modified: reference" in line for line in (*case.verdict.differences, *case.verdict.wording)
        )
    )


def reads_what_cannot_be_kept(case: Case) -> bool:
    return (
        400 <= case.reference.status < 500
        and case.ours.status == 400
        and "a number is not finite, or a text is not Unicode" in str(document(case.ours))
    )


FAULTS = (
    Fault(
        "sums in place",
        "an unsuffixed and a suffixed group ask for one class without group_policy=none: amounts are summed into "
        "shared objects",
        sums_in_place,
    ),
    Fault(
        "merges anchors",
        "the unsuffixed group is satisfied by sharing providers alone: equal requests of different anchors are "
        "merged too early, and candidates vanish",
        merges_anchors,
    ),
    Fault(
        "trusts the first limit",
        "of a repeated limit the last is checked and the first is used: limit=-1 drops the last candidate",
        trusts_the_first_limit,
    ),
    Fault("fails", "the reference answers 500", fails),
    Fault(
        "names any one",
        "of several traits that do not exist the refusal names one, which one depends on the hash seed",
        names_any_one,
    ),
    Fault(
        "reads what cannot be kept",
        "a body with a number that is not finite, or a text that is not Unicode, is refused for something else",
        reads_what_cannot_be_kept,
    ),
    Fault(
        "dates the state before",
        "a changed provider is shown with the time of the change before this one, or with none if there was none",
        dates_the_state_before,
    ),
    Fault("shows SQL", "the refusal of a duplicate inventory shows a statement of SQL", shows_sql),
)
LEFTOVER = Fault(
    "leftover consumer",
    "a write refused with 400 because a provider does not exist leaves the consumers behind that it had created",
    lambda case: False,
)


def explanation(case: Case) -> Fault | None:
    return next((fault for fault in FAULTS if fault.explains(case)), None)


def leftover_consumers(request: Request, answer: Answer, before: State, after: State) -> list[str]:
    """Consumers without allocations that a refused write left behind."""
    is_write = request.path.startswith(("/allocations", "/reshaper")) and request.method in ("PUT", "POST")
    if not is_write or answer.status != 400 or "does not exist" not in str(document(answer)):
        return []
    owners = {consumer for consumer, _, _ in after.allocations}
    return [uuid for uuid in after.consumers if uuid not in before.consumers and uuid not in owners]
