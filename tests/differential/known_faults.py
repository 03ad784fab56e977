# SPDX-License-Identifier: Apache-2.0

"""Known faults of the reference that Plimsoll does not repeat, each with the narrowest check for it.

A difference that one of these explains is counted, not reported. docs/differences.md describes the same faults; a test
compares the two lists.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.differential.case import Case
from tests.differential.compare import document
from tests.differential.requests import Request
from tests.differential.search_faults import (
    merges_anchors,
    sums_in_place,
    uses_first_limit,
    uses_two_precisions,
)
from tests.differential.servers import Response
from tests.differential.state import State


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    reason: str
    explains: Callable[[Case], bool]


def responds_500(case: Case) -> bool:
    """A 500 of the reference: Plimsoll must return 200 for a read, or a 4xx."""
    is_successful_read = case.request.method == "GET" and case.ours.status == 200
    return case.reference.status == 500 and (is_successful_read or 400 <= case.ours.status < 500)


def shows_sql(case: Case) -> bool:
    return case.verdict.equal and "[SQL: INSERT" in str(document(case.reference))


def names_any_missing_trait(case: Case) -> bool:
    """Each response names one of several requested traits that do not exist, not necessarily the same."""
    requested = {
        trait.strip().lstrip("!")
        for name, value in case.request.query
        if name.startswith(("required", "root_required"))
        for trait in value.removeprefix("in:").split(",")
    }
    named = [
        re.search(r"No such trait\(s\): (.+?)\.\s", str(document(response)))
        for response in (case.reference, case.ours)
    ]
    return (
        case.verdict.equal and len(requested) > 1 and all(match and match[1] in requested for match in named)
    )


def shows_old_last_modified(case: Case) -> bool:
    return (
        case.request.method == "PUT"
        and re.fullmatch("/resource_providers/[^/]+", case.request.path) is not None
        and (case.reference.status, case.ours.status) == (200, 200)
        and all(
            "last-modified: reference" in line for line in (*case.verdict.differences, *case.verdict.wording)
        )
    )


def refuses_unstorable_value_differently(case: Case) -> bool:
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
        "uses two precisions",
        "MariaDB stores ratios in single precision: searches use all stored digits, claims only the displayed ones",
        uses_two_precisions,
    ),
    Fault(
        "uses the first limit",
        "of a repeated limit the last is checked and the first is used: limit=-1 drops the last candidate",
        uses_first_limit,
    ),
    Fault("responds with 500", "the reference responds with 500", responds_500),
    Fault(
        "names any missing trait",
        "of several traits that do not exist the refusal names one, which one depends on the hash seed",
        names_any_missing_trait,
    ),
    Fault(
        "refuses unstorable values differently",
        "a body with a number that is not finite, or a text that is not Unicode, is refused for another reason",
        refuses_unstorable_value_differently,
    ),
    Fault(
        "shows an old last-modified",
        "a changed provider is shown with the time of the change before this one, or with none if there was none",
        shows_old_last_modified,
    ),
    Fault("shows SQL", "the refusal of a duplicate inventory shows a statement of SQL", shows_sql),
)
# These are visible in the database, not in a response. A session undoes them.
LEFTOVER_CONSUMER = Fault(
    "leftover consumer",
    "a write refused with 400 because a provider does not exist, or an empty claim, leaves behind the consumers that it"
    " had created",
    lambda case: False,
)
LEFTOVER_OWNER = Fault(
    "leftover owner",
    "a write that is refused, or clears a consumer, leaves behind the projects and users that it had created",
    lambda case: False,
)
LOST_AGGREGATE = Fault(
    "loses respelled aggregates",
    "MariaDB compares without case: an aggregate that is set again in another spelling is"
    " removed from the provider",
    lambda case: False,
)
ALL = (*FAULTS, LEFTOVER_CONSUMER, LEFTOVER_OWNER, LOST_AGGREGATE)


def explanation(case: Case) -> Fault | None:
    return next((fault for fault in FAULTS if fault.explains(case)), None)


def writes_consumers(request: Request) -> bool:
    return request.path.startswith(("/allocations", "/reshaper")) and request.method in ("PUT", "POST")


def leftover_consumers(request: Request, response: Response, before: State, after: State) -> list[str]:
    """Return consumers without allocations that a refused write or an empty claim created."""
    refused = response.status == 400 and b"does not exist" in response.body
    if not writes_consumers(request) or not (refused or response.status == 204):
        return []
    owners = {consumer for consumer, _, _ in after.allocations}
    return [uuid for uuid in after.consumers if uuid not in before.consumers and uuid not in owners]


def leftover_owners(
    request: Request, before: State, after: State, consumers: list[str]
) -> list[tuple[str, str]]:
    """Return (table, name) of new projects and users that only leftover consumers use, or no consumer."""
    if not writes_consumers(request):
        return []
    remaining = [consumer for uuid, consumer in after.consumers.items() if uuid not in consumers]
    projects = after.projects - before.projects - {consumer.project for consumer in remaining}
    users = after.users - before.users - {consumer.user for consumer in remaining}
    return [("projects", name) for name in sorted(projects)] + [("users", name) for name in sorted(users)]


def lost_aggregates(
    request: Request, response: Response, before: State, after: State
) -> list[tuple[str, str]]:
    """Return rows (provider, aggregate) that a write deleted although it names the aggregate in another spelling.

    A row in the new spelling is no loss: a database that compares exactly ends up with that row.
    """
    path = re.fullmatch("/resource_providers/([^/]+)/aggregates", request.path)
    if path is None or (request.method, response.status) != ("PUT", 200):
        return []
    document = json.loads(request.body or b"")
    named = document["aggregates"] if isinstance(document, dict) else document
    requested = {uuid.lower() for uuid in named}
    remaining = {(provider, aggregate.lower()) for provider, aggregate in after.aggregates}
    return [
        (provider, aggregate)
        for provider, aggregate in sorted(before.aggregates - after.aggregates)
        if provider.lower() == path[1].lower()
        and aggregate not in named
        and aggregate.lower() in requested
        and (provider, aggregate.lower()) not in remaining
    ]
