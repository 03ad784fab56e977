# SPDX-License-Identifier: Apache-2.0

"""The faults of the reference that Plimsoll does not repeat, each with the narrowest test for it.

A difference that one of these explains is counted, not reported. docs/differences.md says the same in
plain words; a test holds the two lists together.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.case import Case
from tests.differential.compare import document
from tests.differential.requests import Request
from tests.differential.searches import merges_anchors, reckons_twice, sums_in_place, trusts_the_first_limit
from tests.differential.servers import Answer
from tests.differential.state import State


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    reason: str
    explains: Callable[[Case], bool]


def fails(case: Case) -> bool:
    """A 500 of the reference: ours has to answer what only asks, or to refuse."""
    asks = case.request.method == "GET" and case.ours.status == 200
    return case.reference.status == 500 and (asks or 400 <= case.ours.status < 500)


def shows_sql(case: Case) -> bool:
    return case.verdict.equal and "[SQL: INSERT" in str(document(case.reference))


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
        "reckons twice",
        "MariaDB keeps ratios in single precision: searches reckon with all the digits, claims with those it shows",
        reckons_twice,
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
# These show in the database, not in an answer. A session undoes them.
LEFTOVER_CONSUMER = Fault(
    "leftover consumer",
    "a write refused with 400 because a provider does not exist, or a claim of nothing, leaves the consumers behind that it"
    " had created",
    lambda case: False,
)
LEFTOVER_OWNER = Fault(
    "leftover owner",
    "a write that is refused, or clears a consumer, leaves the projects and users behind that it had created",
    lambda case: False,
)
LOST_AGGREGATE = Fault(
    "loses respelled aggregates",
    "MariaDB takes capital and small letters for the same: an aggregate that is set again in another spelling is"
    " removed from the provider",
    lambda case: False,
)
ALL = (*FAULTS, LEFTOVER_CONSUMER, LEFTOVER_OWNER, LOST_AGGREGATE)


def explanation(case: Case) -> Fault | None:
    return next((fault for fault in FAULTS if fault.explains(case)), None)


def writes_consumers(request: Request) -> bool:
    return request.path.startswith(("/allocations", "/reshaper")) and request.method in ("PUT", "POST")


def leftover_consumers(request: Request, answer: Answer, before: State, after: State) -> list[str]:
    """Consumers without allocations that a refused write or a claim of nothing left behind."""
    refused = answer.status == 400 and b"does not exist" in answer.body
    if not writes_consumers(request) or not (refused or answer.status == 204):
        return []
    owners = {consumer for consumer, _, _ in after.allocations}
    return [uuid for uuid in after.consumers if uuid not in before.consumers and uuid not in owners]


def leftover_owners(
    request: Request, before: State, after: State, consumers: list[str]
) -> list[tuple[str, str]]:
    """New projects and users, with their table, that nobody has but the consumers left behind."""
    if not writes_consumers(request):
        return []
    kept = [consumer for uuid, consumer in after.consumers.items() if uuid not in consumers]
    projects = after.projects - before.projects - {consumer.project for consumer in kept}
    users = after.users - before.users - {consumer.user for consumer in kept}
    return [("projects", name) for name in sorted(projects)] + [("users", name) for name in sorted(users)]


def lost_aggregates(request: Request, answer: Answer, before: State, after: State) -> list[tuple[str, str]]:
    """Rows (provider, aggregate) that a write deleted although it names the aggregate, in another spelling only.

    A row in the new spelling is no loss: that is what a database that compares exactly is left with.
    """
    path = re.fullmatch("/resource_providers/([^/]+)/aggregates", request.path)
    if path is None or (request.method, answer.status) != ("PUT", 200):
        return []
    document = json.loads(request.body or b"")
    named = document["aggregates"] if isinstance(document, dict) else document
    asked_for = {uuid.lower() for uuid in named}
    remaining = {(provider, aggregate.lower()) for provider, aggregate in after.aggregates}
    return [
        (provider, aggregate)
        for provider, aggregate in sorted(before.aggregates - after.aggregates)
        if provider.lower() == path[1].lower()
        and aggregate not in named
        and aggregate.lower() in asked_for
        and (provider, aggregate.lower()) not in remaining
    ]
