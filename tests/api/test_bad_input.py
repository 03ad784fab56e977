# SPDX-License-Identifier: Apache-2.0

"""Any invalid request gets a 4xx with an error document, and changes nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api import Api

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"

pytestmark = pytest.mark.one_engine("every request here is refused before a statement is sent")

INVENTORIES = f"/resource_providers/{HOST}/inventories"
TRAITS = f"/resource_providers/{HOST}/traits"
AGGREGATES = f"/resource_providers/{HOST}/aggregates"


@pytest.fixture
def populated(client: Api) -> Iterator[Api]:
    """A client of a service with some state, which the test must not change."""
    client.host(HOST, VCPU=10, DISK_GB=100)
    client.put(f"/allocations/{CONSUMER}", allocations(VCPU=2))
    before = client.state()
    yield client
    assert client.state() == before


def allocations(generation: Any = None, provider: str = HOST, **resources: Any) -> dict[str, Any]:
    return {
        "allocations": {provider: {"resources": resources}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }


def inventories(generation: Any = 1, **classes: Any) -> dict[str, Any]:
    return {"resource_provider_generation": generation, "inventories": classes}


def nested(depth: int) -> bytes:
    return b'{"name":' + b"[" * depth + b"]" * depth + b"}"


HUGE = 10**30

BODIES: list[tuple[str, str, Any]] = [
    # Not JSON, or not the JSON of the schema
    ("POST", "/resource_providers", b"{"),
    ("POST", "/resource_providers", b""),
    ("POST", "/resource_providers", b"\xff\xfe"),
    ("POST", "/resource_providers", b"nonsense"),
    ("POST", "/resource_providers", b'{"name": "a", "name": }'),
    ("POST", "/resource_providers", b'{"name": "\\ud800"}'),
    ("POST", "/resource_providers", nested(100)),
    ("POST", "/resource_providers", nested(100_000)),
    ("POST", "/resource_providers", []),
    ("POST", "/resource_providers", None),
    ("POST", "/resource_providers", 7),
    ("POST", "/resource_providers", {"name": 7}),
    ("POST", "/resource_providers", {"name": ""}),
    ("POST", "/resource_providers", {"name": "x" * 201}),
    ("POST", "/resource_providers", {"name": "x", "uuid": "not-one"}),
    ("POST", "/resource_providers", {"name": "x", "uuid": f"{HOST}\u0000"}),
    ("POST", "/resource_providers", {"name": "x", "colour": "red"}),
    ("POST", "/resource_providers", {"name": "x", "parent_provider_uuid": "not-one"}),
    ("POST", "/resource_providers", {"name": "x", "parent_provider_uuid": CONSUMER}),
    ("POST", "/resource_providers", {"name": HOST}),
    ("PUT", f"/resource_providers/{HOST}", {"name": "x", "parent_provider_uuid": HOST}),
    ("PUT", f"/resource_providers/{CONSUMER}", {"name": "x"}),
    # Numbers
    ("PUT", INVENTORIES, inventories(VCPU={"total": -1})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 0})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 2**31})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": HUGE})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 1.5})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": "1"})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": True})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": None})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "reserved": 6})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "step_size": 0})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "allocation_ratio": 1e39})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "allocation_ratio": float("nan")})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "allocation_ratio": float("-inf")})),
    ("PUT", INVENTORIES, inventories(VCPU={"total": 5, "allocation_ratio": -1.0})),
    ("PUT", INVENTORIES, inventories(vcpu=5)),
    ("PUT", INVENTORIES, inventories(vcpu={})),
    ("PUT", INVENTORIES, inventories(vcpu={"total": "many"})),
    ("PUT", INVENTORIES, inventories(CUSTOM_UNKNOWN={"total": 1})),
    ("PUT", INVENTORIES, inventories(HUGE, VCPU={"total": 1})),
    ("PUT", INVENTORIES, inventories(-1, VCPU={"total": 1})),
    ("PUT", INVENTORIES, inventories(DISK_GB={"total": 1})),
    ("POST", INVENTORIES, {"resource_class": "VCPU", "total": 1}),
    ("POST", INVENTORIES, {"resource_class": "VC\nPU", "total": 1}),
    ("PUT", f"{INVENTORIES}/MEMORY_MB", {"resource_provider_generation": 1, "total": 1}),
    ("PUT", f"{INVENTORIES}/NONE", {"resource_provider_generation": 1, "total": 1}),
    # Claims
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, VCPU=11)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, VCPU=HUGE)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, VCPU=0)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, VCPU=-1)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, VCPU=1.5)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, MEMORY_MB=1)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, NONE=1)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(1, CONSUMER, VCPU=1)),
    ("PUT", f"/allocations/{CONSUMER}", allocations(HUGE, VCPU=1)),
    ("PUT", f"/allocations/{CONSUMER}", allocations("1", VCPU=1)),
    ("PUT", f"/allocations/{CONSUMER}", {**allocations(1, VCPU=1), "project_id": ""}),
    ("PUT", f"/allocations/{CONSUMER}", {**allocations(1, VCPU=1), "user_id": "x" * 256}),
    ("PUT", f"/allocations/{CONSUMER}", {**allocations(1, VCPU=1), "consumer_type": "small"}),
    ("PUT", f"/allocations/{CONSUMER}", {**allocations(1, VCPU=1), "mappings": {}}),
    ("PUT", "/allocations/not-a-uuid", allocations(VCPU=1)),
    ("POST", "/allocations", {}),
    ("POST", "/allocations", {"not-a-uuid": allocations(VCPU=1)}),
    ("POST", "/allocations", {CONSUMER: allocations(7, VCPU=1)}),
    ("POST", "/reshaper", {}),
    ("POST", "/reshaper", {"inventories": {HOST: inventories(9)}, "allocations": {}}),
    ("POST", "/reshaper", {"inventories": {HOST: inventories(1)}, "allocations": {}}),
    # Names
    ("PUT", TRAITS, {"resource_provider_generation": 1, "traits": ["CUSTOM_UNKNOWN"]}),
    ("PUT", TRAITS, {"resource_provider_generation": 1, "traits": [""]}),
    ("PUT", TRAITS, {"resource_provider_generation": 1, "traits": "HW_CPU_X86_AVX"}),
    ("PUT", TRAITS, {"resource_provider_generation": 7, "traits": []}),
    ("PUT", "/traits/HW_CPU_X86_AVX", None),
    ("PUT", "/traits/CUSTOM_small", None),
    ("PUT", f"/traits/CUSTOM_{'X' * 255}", None),
    ("PUT", AGGREGATES, {"resource_provider_generation": 1, "aggregates": ["x"]}),
    ("PUT", AGGREGATES, {"resource_provider_generation": 1, "aggregates": [CONSUMER, CONSUMER]}),
    ("PUT", AGGREGATES, [CONSUMER]),
    ("POST", "/resource_classes", {"name": "VCPU"}),
    ("POST", "/resource_classes", {"name": "CUSTOM_é"}),
    ("POST", "/resource_classes", {"name": f"CUSTOM_{'X' * 255}"}),
    ("PUT", "/resource_classes/VCPU", None),
]


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
def test_a_bad_body_is_refused_and_changes_nothing(populated: Api, method: str, path: str, body: Any) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    response = populated.call(method, path, raw=raw, headers={"content-type": "application/json"})
    assert 400 <= response.status < 500, response.body
    (error,) = response.json["errors"]
    assert error["status"] == response.status
    assert error["title"]
    assert error["detail"].strip()
    assert error["request_id"] == response.headers["x-openstack-request-id"]
    assert response.headers["openstack-api-version"] == "placement 1.39"


QUERIES = [
    "/resource_providers?colour=red",
    "/resource_providers?uuid=not-one",
    "/resource_providers?in_tree=not-one",
    "/resource_providers?resources=VCPU",
    "/resource_providers?resources=VCPU:many",
    "/resource_providers?resources=VCPU:0",
    "/resource_providers?resources=",
    "/resource_providers?resources=NONE:1",
    "/resource_providers?member_of=x",
    "/resource_providers?required=",
    "/resource_providers?required=NONE",
    "/resource_providers?name=%ff",
    "/allocation_candidates",
    "/allocation_candidates?limit=5",
    "/allocation_candidates?resources=VCPU:1&limit=0",
    "/allocation_candidates?resources=VCPU:1&limit=-1",
    "/allocation_candidates?resources=VCPU:1&limit=many",
    "/allocation_candidates?resources=VCPU:1&group_policy=maybe",
    "/allocation_candidates?resources=VCPU:1&required=in:",
    "/allocation_candidates?resources=VCPU:1&required=HW_CPU_X86_AVX,!HW_CPU_X86_AVX",
    "/allocation_candidates?resources=VCPU:1&root_required=NONE",
    "/allocation_candidates?resources=VCPU:1&same_subtree=_A",
    "/allocation_candidates?resources_A=VCPU:1&resources_B=VCPU:1",
    "/allocation_candidates?resources=VCPU:1&in_tree=x",
    "/allocation_candidates?resources=VCPU:1&nonsense=1",
    "/usages",
    "/usages?project_id=",
    "/usages?project_id=p&consumer_type=small",
    "/traits?name=HW",
    "/traits?associated=perhaps",
]


@pytest.mark.parametrize("path", QUERIES)
def test_a_bad_query_is_refused(populated: Api, path: str) -> None:
    response = populated.get(path)
    assert response.status == 400, response.body
    assert response.json["errors"][0]["detail"].strip()


def test_amounts_larger_than_any_inventory_find_nothing(populated: Api) -> None:
    for amount in (2**31, 2**63, 2**64, 10**40):
        response = populated.get(f"/allocation_candidates?resources=VCPU:{amount}")
        assert (response.status, response.json["allocation_requests"]) == (200, [])
        assert populated.get(f"/resource_providers?resources=VCPU:{amount}").json == {
            "resource_providers": []
        }


def test_unknown_paths_and_methods(populated: Api) -> None:
    assert populated.get("/nowhere").status == 404
    assert populated.get(f"/resource_providers/{HOST}/").status == 404
    assert populated.get("/resource_providers/not-a-uuid").status == 404
    response = populated.call("DELETE", "/resource_providers")
    assert response.status == 405
    assert sorted(response.headers["allow"].split(", ")) == ["GET", "POST"]
    assert populated.call("BREW", "/traits").status == 405


def test_wrong_content_types_and_accepts(populated: Api) -> None:
    body = json.dumps({"name": "x"}).encode()
    wrong = populated.call("POST", "/resource_providers", raw=body, headers={"content-type": "text/plain"})
    assert wrong.status == 415
    missing = populated.call("POST", "/resource_providers", raw=body, headers={"content-type": ""})
    assert missing.status == 400
    assert populated.call("GET", "/resource_providers", headers={"accept": "text/plain"}).status == 406
    assert populated.call("GET", "/resource_providers", headers={"accept": "*/*"}).status == 200


def test_versions_that_do_not_exist(populated: Api) -> None:
    unacceptable = populated.get("/resource_providers", version="1.40")
    assert unacceptable.status == 406
    assert unacceptable.json["errors"][0]["max_version"] == "1.39"
    assert unacceptable.json["errors"][0]["min_version"] == "1.0"
    assert populated.get("/resource_providers", version="one").status == 400
    assert (
        populated.get("/resource_providers", version="latest").headers["openstack-api-version"]
        == "placement 1.39"
    )
    assert (
        populated.get("/resource_providers", version=None).headers["openstack-api-version"] == "placement 1.0"
    )


def test_a_body_over_the_configured_size_is_refused(populated: Api) -> None:
    raw = b'{"name": "' + b"x" * (10 * 1024 * 1024) + b'"}'
    response = populated.call("POST", "/resource_providers", raw=raw)
    assert response.status == 413
    assert response.json["errors"][0]["status"] == 413


def test_a_request_without_a_token_is_refused(populated: Api) -> None:
    environ_without = populated.call(
        "GET", "/resource_providers", headers={"x-auth-token": "someone", "x-roles": ""}
    )
    assert environ_without.status == 403
    assert "placement:resource_providers:list" in environ_without.detail


@pytest.mark.parametrize("path", ["inventories", "inventories/VCPU", "aggregates"])
@pytest.mark.parametrize("body", [{}, {"resource_provider_generation": 1, "nonsense": 1}])
def test_a_missing_provider_is_reported_before_an_error_in_the_body(
    populated: Api, path: str, body: dict[str, Any]
) -> None:
    nowhere = f"/resource_providers/{CONSUMER}"
    assert populated.put(f"{nowhere}/{path}", body).status == 404
    assert populated.put(f"/resource_providers/{HOST}/{path}", body).status == 400
