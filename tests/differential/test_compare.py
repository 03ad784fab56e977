# SPDX-License-Identifier: Apache-2.0

"""The comparison finds differences that a client can see, and no others."""

from __future__ import annotations

import json
from typing import Any

from tests.differential.compare import Verdict, compare, compare_limited
from tests.differential.requests import Request, Version, read, write
from tests.differential.servers import Response

READ = read("test", "/resource_providers", Version.of("placement 1.39"))


def response(body: Any, status: int = 200, **headers: str) -> Response:
    return Response(
        status,
        {"content-type": "application/json"}
        | {name.replace("_", "-"): value for name, value in headers.items()},
        json.dumps(body).encode(),
    )


def verdict(expected: Any, actual: Any, request: Request = READ) -> Verdict:
    return compare(request, response(expected), response(actual))


def test_the_order_of_keys_and_lists_does_not_matter() -> None:
    assert verdict({"a": [1, {"b": [2, 3]}], "c": 1}, {"c": 1, "a": [{"b": [3, 2]}, 1]}).equal


def test_a_repeated_member_of_a_list_matters() -> None:
    assert not verdict({"a": [1, 1, 2]}, {"a": [1, 2, 2]}).equal


def test_a_number_is_not_another_type_of_number() -> None:
    assert not verdict({"allocation_ratio": 1.0}, {"allocation_ratio": 1}).equal


def test_a_missing_key_is_named() -> None:
    assert verdict({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}).differences == (
        "body.a.c: only the reference: 2",
    )


def test_a_status_is_compared() -> None:
    assert compare(READ, response({}, 200), response({}, 201)).differences == (
        "status: reference 200, here 201",
    )


def test_headers_are_compared_by_meaning() -> None:
    expected = response(
        {}, allow="GET, PUT", vary="a", last_modified="Mon, 01 Jan 2024 10:00:00 GMT", location="http://one/x"
    )
    actual = response(
        {}, allow="PUT,GET", vary="A", last_modified="Mon, 01 Jan 2024 10:00:09 GMT", location="/x"
    )
    assert compare(READ, expected, actual).equal
    assert not compare(READ, expected, response({}, allow="GET", vary="a", location="/x")).equal
    assert not compare(READ, expected, response({}, allow="GET, PUT", vary="a", location="/x")).equal


def test_a_last_modified_that_is_minutes_off_counts_as_wording() -> None:
    expected = response({}, last_modified="Mon, 01 Jan 2024 10:00:00 GMT")
    actual = response({}, last_modified="Mon, 01 Jan 2024 10:05:00 GMT")
    assert compare(READ, expected, actual).equal
    assert len(compare(READ, expected, actual).wording) == 1


def error(detail: str, **more: str) -> dict[str, Any]:
    return {
        "errors": [{"status": 400, "title": "Bad Request", "request_id": detail, "detail": detail} | more]
    }


def test_the_text_of_an_error_counts_as_wording() -> None:
    found = verdict(error("no {'A', 'B'} here"), error("none"))
    assert found.equal
    assert len(found.wording) == 1


def test_the_text_of_a_401_counts_as_wording_and_its_code_does_not() -> None:
    def refusal(message: str, code: str = "401 Unauthorized") -> Response:
        return response({"message": message, "code": code, "title": "Unauthorized"}, 401)

    assert compare(READ, refusal("Who?"), refusal("Who? Send a token.")) == Verdict()
    found = compare(READ, refusal("Who?"), refusal("Nobody?"))
    assert found.equal
    assert len(found.wording) == 1
    assert not compare(READ, refusal("Who?"), refusal("Who?", "401 Other")).equal


def test_the_order_of_listed_items_in_an_error_does_not_matter() -> None:
    assert verdict(error("no {'A', 'B'} here"), error("no {'B', 'A'} here")) == Verdict()


def test_the_code_of_an_error_matters() -> None:
    assert not verdict(error("x", code="placement.undefined_code"), error("x", code="other")).equal


def test_candidates_are_compared_as_a_multiset_with_their_mappings() -> None:
    one = {"allocations": {"p": {"resources": {"VCPU": 1}}}, "mappings": {"": ["p"]}}
    two = {"allocations": {"q": {"resources": {"VCPU": 1}}}, "mappings": {"": ["q"]}}
    other = one | {"mappings": {"1": ["p"]}}

    def body(*requests: Any) -> Any:
        return {"allocation_requests": list(requests), "provider_summaries": {}}

    assert verdict(body(one, two), body(two, one)).equal
    assert not verdict(body(one, two), body(other, two)).equal
    assert not verdict(body(one, two), body(one)).equal


def test_a_uuid_that_the_server_chooses_is_not_compared() -> None:
    request = write("test", "POST", "/resource_providers", Version.of("placement 1.39"), {"name": "x"})
    first, second = "0b1b9b4b-0000-4000-8000-000000000001", "0b1b9b4b-0000-4000-8000-000000000002"
    expected = response({"uuid": first}, location=f"/resource_providers/{first}")
    actual = response({"uuid": second}, location=f"/resource_providers/{second}")
    assert compare(request, expected, actual).equal


def search(*uuids: str, summaries: tuple[str, ...] = ("p", "q")) -> Response:
    requests = [{"allocations": {uuid: {"resources": {"VCPU": 1}}}} for uuid in uuids]
    return response(
        {
            "allocation_requests": requests,
            "provider_summaries": {uuid: {"root_provider_uuid": uuid} for uuid in summaries},
        }
    )


def test_a_limited_result_is_a_subset_of_the_full_one() -> None:
    full = search("p", "q")
    assert list(compare_limited(1, search("q", summaries=("q",)), full, "x")) == []
    assert list(compare_limited(5, full, full, "x")) == []


def test_a_limited_result_of_the_wrong_size_or_content_is_found() -> None:
    full = search("p", "q")
    assert list(compare_limited(1, full, full, "x")), "too many"
    assert list(compare_limited(2, search("p", summaries=("p",)), full, "x")), "too few"
    assert list(compare_limited(1, search("r", summaries=()), full, "x")), "not in the full result"
    assert list(compare_limited(1, search("p"), full, "x")), "the summary of a tree that is not used"
