# SPDX-License-Identifier: Apache-2.0

"""Known faults are matched narrowly, and docs/differences.md lists exactly these."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.differential.case import Case
from tests.differential.compare import compare
from tests.differential.known_faults import ALL, explanation
from tests.differential.requests import Request, Version, read, write
from tests.differential.servers import Response
from tests.differential.state import Inventory, Provider, State

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
SHARES = "MISC_SHARES_VIA_AGGREGATE"
STATE = State(
    {uuid: Provider(uuid, 1, None, uuid) for uuid in ("host", "store")},
    {("host", "VCPU"): Inventory(10, 0, 1, 10, 1, 0.9)},
    frozenset({("store", SHARES)}),
    *(frozenset(), {}, {}, frozenset(), frozenset()),
    {("host", "VCPU"): 0.9},
)


def found(*requests: Any) -> Response:
    body = {"allocation_requests": list(requests), "provider_summaries": {}}
    return Response(200, {"content-type": "application/json"}, json.dumps(body).encode())


def candidate(mappings: dict[str, list[str]], **amounts: dict[str, int]) -> dict[str, Any]:
    return {
        "allocations": {uuid: {"resources": content} for uuid, content in amounts.items()},
        "mappings": mappings,
    }


def search(*query: tuple[str, str]) -> Request:
    return read("test", "/allocation_candidates", Version.of("placement 1.39"), query)


def explained(
    request: Request,
    expected: Response,
    actual: Response,
    correct_response: Response | None = None,
    state: State = STATE,
) -> str | None:
    verdict = compare(request, expected, actual)
    case = Case(request, expected, actual, verdict, state, lambda _: correct_response or expected)
    fault = explanation(case)
    return fault.name if fault else None


BOTH = (("resources", "VCPU:1"), ("resources1", "VCPU:2"))
RIGHT = candidate({"": ["host"], "1": ["host"]}, host={"VCPU": 3})
WRONG = candidate({"": ["host"], "1": ["host"]}, host={"VCPU": 5})


def test_wrong_sums_are_explained_when_ours_are_correct() -> None:
    assert (
        explained(search(*BOTH), found(WRONG), found(RIGHT), correct_response=found(RIGHT)) == "sums in place"
    )


def test_wrong_sums_are_not_explained_when_ours_are_wrong_too() -> None:
    assert explained(search(*BOTH), found(WRONG), found(WRONG, RIGHT), correct_response=found(RIGHT)) is None


def test_wrong_sums_are_not_explained_where_the_reference_sums_correctly() -> None:
    assert explained(search(*BOTH, ("group_policy", "none")), found(WRONG), found(RIGHT)) is None
    other = (("resources", "VCPU:1"), ("resources1", "DISK_GB:2"))
    assert explained(search(*other), found(WRONG), found(RIGHT)) is None


def test_wrong_sums_of_suffixed_groups_are_explained_if_the_effective_policy_is_unknown() -> None:
    correct = candidate({"1": ["host"], "2": ["host"]}, host={"VCPU": 3})
    wrong = candidate({"1": ["host"], "2": ["host"]}, host={"VCPU": 5})
    groups = ("resources1", "VCPU:1"), ("resources2", "VCPU:2")
    policies = ("group_policy", "some"), ("group_policy", "isolate")
    assert (
        explained(search(*groups, *policies), found(wrong), found(correct), correct_response=found(correct))
        == "sums in place"
    )
    assert (
        explained(search(*groups, policies[1]), found(wrong), found(correct), correct_response=found(correct))
        is None
    )


APART = (("resources", "DISK_GB:1"), ("resources1", "VCPU:2"))
FURTHER = candidate({"": ["store"], "1": ["host"]}, store={"DISK_GB": 1}, host={"VCPU": 2})
LOCAL = candidate({"": ["host"], "1": ["host"]}, host={"VCPU": 2, "DISK_GB": 1})


def test_candidates_of_sharing_providers_may_be_missing_in_the_reference() -> None:
    assert explained(search(*APART), found(LOCAL), found(LOCAL, FURTHER)) == "merges anchors"


def test_candidates_may_not_be_missing_here() -> None:
    assert explained(search(*APART), found(LOCAL, FURTHER), found(LOCAL)) is None


def test_candidates_without_sharing_providers_may_not_be_missing_anywhere() -> None:
    assert explained(search(*APART), found(FURTHER), found(LOCAL, FURTHER)) is None


def test_a_single_group_may_not_lose_candidates() -> None:
    assert explained(search(APART[0]), found(), found(FURTHER)) is None


SINGLE = replace(
    STATE,
    inventories={
        ("host", "VCPU"): Inventory(10, 0, 1, 10, 1, 0.9),
        ("store", "VCPU"): Inventory(10, 0, 1, 10, 1, 1.0),
    },
    ratios={("host", "VCPU"): 0.8999999761581421, ("store", "VCPU"): 1.0},
)
NINE = candidate({"": ["host"]}, host={"VCPU": 9})


def test_a_search_may_miss_a_provider_if_only_hidden_digits_of_its_ratio_refuse_it() -> None:
    request = search(("resources", "VCPU:9"))
    assert explained(request, found(), found(NINE), state=SINGLE) == "uses two precisions"
    assert explained(request, found(), found(NINE)) is None, "the same ratio in double precision"


def test_a_search_may_not_miss_a_provider_that_fits_by_both_calculations() -> None:
    eight = candidate({"": ["host"]}, host={"VCPU": 8})
    assert explained(search(("resources", "VCPU:8")), found(), found(eight), state=SINGLE) is None
    elsewhere = candidate({"": ["store"]}, store={"VCPU": 9})
    assert explained(search(("resources", "VCPU:9")), found(), found(NINE, elsewhere), state=SINGLE) is None


def listed(*uuids: str) -> Response:
    body = {"resource_providers": [{"uuid": uuid, "generation": 1} for uuid in uuids]}
    return Response(200, {"content-type": "application/json"}, json.dumps(body).encode())


def test_a_list_of_providers_may_miss_the_same_providers_and_no_others() -> None:
    request = read("test", "/resource_providers", Version.of("placement 1.39"), (("resources", "VCPU:9"),))
    assert explained(request, listed("store"), listed("store", "host"), state=SINGLE) == "uses two precisions"
    assert explained(request, listed("host"), listed("store", "host"), state=SINGLE) is None


def no_such_trait(name: str) -> Response:
    body = {
        "errors": [
            {"status": 400, "title": "Bad Request", "detail": f"Wrong.\n\n No such trait(s): {name}.  "}
        ]
    }
    return Response(400, {"content-type": "application/json"}, json.dumps(body).encode())


def test_a_refusal_may_name_any_missing_trait_but_no_other() -> None:
    request = search(("resources", "VCPU:1"), ("required", "A,!B"))
    assert explained(request, no_such_trait("A"), no_such_trait("B")) == "names any missing trait"
    assert explained(request, no_such_trait("A"), no_such_trait("C")) is None


def renamed(**headers: str) -> Response:
    return Response(200, {"content-type": "application/json"} | headers, b"{}")


def test_a_changed_provider_may_be_dated_earlier_in_the_reference_and_nothing_else() -> None:
    request = write("test", "PUT", "/resource_providers/host", Version.of("placement 1.39"), {"name": "x"})
    now = {"last-modified": "Mon, 01 Jan 2024 10:05:00 GMT"}
    before = {"last-modified": "Mon, 01 Jan 2024 10:00:00 GMT"}
    assert explained(request, renamed(), renamed(**now)) == "shows an old last-modified"
    assert explained(request, renamed(**before), renamed(**now)) == "shows an old last-modified"
    assert explained(request, renamed(), renamed(**now, vary="x")) is None


def test_the_page_lists_exactly_the_known_faults() -> None:
    listed = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(fault.name for fault in ALL)
