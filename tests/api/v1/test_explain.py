# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/explain on the sample cloud. Texts: test_explain_cases.py. Counts: tests/property/search/test_explain.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jsonschema_rs
import pytest

from plimsoll.api.v1.documents.explain import EXPLANATION, REASONS
from tests.api.v1.explain_cases import CASES, PAGE, ExplainCase, ask, sample_api
from tests.api.v1.roles import READERS, statuses_by_role
from tests.support.api import Api, Response, api
from tests.support.sample_cloud import RACK_A, UUIDS

EXPLAIN = "/plimsoll/v1/explain"
VERDICT = "plimsoll-verdict"


@pytest.fixture(scope="module")
def cloud() -> Iterator[Api]:
    with sample_api() as client:
        yield client


def explain(client: Api, query: str, version: str | None = "1.39") -> Response:
    return client.get(f"{EXPLAIN}?{query}", version)


@pytest.mark.parametrize("case", [case for case in CASES if case.name != "typo"], ids=lambda case: case.name)
def test_the_document_matches_its_schema_and_the_search(cloud: Api, case: ExplainCase) -> None:
    response = explain(cloud, case.query)
    assert response.status == 200
    document = response.json
    jsonschema_rs.validate(dict(EXPLANATION.schema), document)
    plain = "&".join(part for part in case.query.split("&") if not part.startswith("provider="))
    searched = cloud.get(f"/allocation_candidates?{plain}").json["allocation_requests"]
    assert document["candidates"] == len(searched)
    assert (document["verdict"] == "found") == bool(searched)
    assert document["clauses"][-1]["left"] == document["hosts_with_candidates"]
    assert response.headers[VERDICT] == document["verdict"]


def test_text_is_given_on_request(cloud: Api) -> None:
    response = ask(cloud, "resources=VCPU:9999")
    assert response.headers["content-type"] == "text/plain; charset=UTF-8"
    assert response.headers["vary"] == "accept"
    assert response.headers[VERDICT] == "never"
    assert response.body.startswith(b"No candidates, even if nothing were in use: of 15 hosts,")


def test_a_provider_is_named_by_uuid_or_name_and_stands_for_its_host(cloud: Api) -> None:
    for name in ("numa-01", "numa-01-node0", UUIDS["numa-01-card"], UUIDS["numa-01"].upper()):
        story = explain(cloud, f"resources=VCPU:20&provider={name}").json["provider"]
        assert story["name"] == "numa-01"
        assert [obstacle["reason"] for obstacle in story["obstacles"]] == ["capacity"]
        assert story["obstacles"][0]["facts"]["capacity"] == 16
    served = explain(cloud, "resources=VCPU:1&provider=node-01").json
    assert served["provider"]["obstacles"] == []
    assert "provider" not in explain(cloud, "resources=VCPU:1").json


def test_the_hosts_that_a_clause_removes_are_shown_on_request(cloud: Api) -> None:
    query = "resources=VCPU:8,MEMORY_MB:65536&required=HW_CPU_X86_AVX512F&relax=false&make_room=false"
    clauses = explain(cloud, query).json["clauses"]
    before = 15
    for clause in clauses:
        document = explain(cloud, f"{query}&clause={clause['number']}&examples=100").json
        assert len(document["examples"]) == before - clause["left"]
        assert document["more_hosts"] == 0
        assert {min(each["clause"] for each in host["obstacles"]) for host in document["examples"]} <= {
            clause["number"]
        }
        before = clause["left"]
    assert [len(explain(cloud, f"{query}&examples={count}").json["examples"]) for count in (0, 3, 9)] == [
        0,
        3,
        9,
    ]


def test_a_clause_that_the_query_does_not_have_is_a_400(cloud: Api) -> None:
    response = explain(cloud, "resources=VCPU:8&clause=99")
    assert response.status == 400
    assert "clause is 99, but this query has 7 clauses" in response.json["errors"][0]["detail"]
    assert explain(cloud, "resources=VCPU:8&examples=101").status == 400


def test_an_unknown_provider_is_a_400(cloud: Api) -> None:
    response = explain(cloud, "resources=VCPU:1&provider=node-99")
    assert (response.status, response.code) == (400, "placement.resource_provider.not_found")
    assert "No resource provider has the uuid or name 'node-99'." in response.detail


@pytest.mark.parametrize(
    "query",
    [
        "",
        "resources=VCPU",
        "resources=VCPU:0",
        "resources=VCPU:1&limit=0",
        "resources=VCPU:1&colour=blue",
        "resources=VCPU:1&member_of=nowhere",
        "resources_A=VCPU:1&resources_B=VCPU:1",
        "resources=VCPU:1&required=CUSTOM_NOWHERE",
        "resources=CUSTOM_NOTHING:1",
        "resources=VCPU:1&required=HW_CPU_X86_AVX2,!HW_CPU_X86_AVX2",
    ],
)
def test_what_the_placement_api_refuses_is_refused_in_the_same_words(cloud: Api, query: str) -> None:
    refused = cloud.get(f"/allocation_candidates?{query}")
    response = explain(cloud, query)
    assert (response.status, response.code) == (refused.status, refused.code)
    assert response.status == 400
    assert response.detail.startswith(refused.detail.rstrip())


def test_near_names_follow_an_unknown_one(cloud: Api) -> None:
    assert "Near names: VCPU." in explain(cloud, "resources=VCPUS:1").detail
    assert "Near names" not in explain(cloud, "resources=CUSTOM_ZZZ:1").detail


def test_the_query_is_parsed_in_the_microversion_of_the_header(cloud: Api) -> None:
    query = "resources1=VCPU:1&resources2=VCPU:1&group_policy=none"
    assert explain(cloud, query, "1.10").status == 400
    assert explain(cloud, query, "1.25").json["verdict"] == "found"
    assert explain(cloud, query, None).json["verdict"] == "found"
    nested = "resources=VCPU:1,DISK_GB:1&provider=numa-01"
    reasons = [each["reason"] for each in explain(cloud, nested, "1.28").json["provider"]["obstacles"]]
    assert reasons == ["one_per_tree"]
    assert explain(cloud, nested, "1.29").json["provider"]["obstacles"] == []


def test_parts_can_be_switched_off(cloud: Api) -> None:
    query = f"resources=VCPU:8,MEMORY_MB:65536&required=HW_CPU_X86_AVX512F&member_of={RACK_A}"
    whole = explain(cloud, query).json
    assert whole["relax"]
    assert whole["make_room"]
    part = explain(cloud, f"{query}&relax=false&make_room=false").json
    assert (part["relax"], part["make_room"]) == ([], [])
    assert part["clauses"] == whole["clauses"]


def test_an_unchanged_explanation_is_not_sent_again(cloud: Api) -> None:
    path = f"{EXPLAIN}?resources=VCPU:4&relax=false&make_room=false"
    etag = cloud.get(path).headers["etag"]
    assert cloud.call("GET", path, headers={"if-none-match": etag}).status == 304
    assert cloud.call("GET", path, version="1.25", headers={"if-none-match": etag}).status == 200
    text = {"if-none-match": etag, "accept": "text/plain"}
    assert cloud.call("GET", path, headers=text).status == 200


def test_readers_may_read_it(cloud: Api) -> None:
    assert statuses_by_role(cloud, f"{EXPLAIN}?resources=VCPU:1") == READERS


def test_a_search_that_is_too_long_is_the_same_503(tmp_path: Path) -> None:
    devices = 10
    puzzle = "&".join(
        f"resources{number}=PGPU:{amount}" for number, amount in enumerate([*[4] * 10, *[3] * 16], start=1)
    )
    query = f"resources=VCPU:1&{puzzle}&group_policy=none"
    with api(tmp_path / "db", plimsoll__search_budget=0.1) as client:
        root = client.host("10000000-0000-0000-0000-000000000000", VCPU=8)
        for number in range(devices):
            client.host(f"d0000000-0000-0000-0000-{number:012}", parent=root, PGPU=9)
        response = explain(client, query)
        assert (response.status, response.code) == (503, "plimsoll.search_budget_exceeded")


def test_amounts_beyond_64_bits_are_shown_as_the_largest(tmp_path: Path) -> None:
    uuid = "10000000-0000-0000-0000-000000000000"
    with api(tmp_path / "db") as client:
        client.host(uuid, "huge", DISK_GB=1)
        inventory = {"total": 2_000_000_000, "allocation_ratio": 3.0e38, "max_unit": 4}
        body = {"inventories": {"VCPU": inventory}, "resource_provider_generation": 1}
        assert client.put(f"/resource_providers/{uuid}/inventories", body).status == 200
        facts = explain(client, "resources=VCPU:5").json["examples"][0]["obstacles"][0]["facts"]
        assert (facts["capacity"], facts["max_unit"]) == (1 << 62, 4)
        assert ask(client, "resources=VCPU:5").status == 200


def test_every_reason_is_on_the_page() -> None:
    page = PAGE.read_text()
    assert [reason for reason in REASONS if f"`{reason}`" not in page] == []
