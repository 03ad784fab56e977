# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/providers and /plimsoll/v1/providers/{provider}, on each engine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from plimsoll.api.v1.documents.providers import PROVIDER, PROVIDERS
from plimsoll.api.v1.lists import MAX_AT_ONCE
from plimsoll.http.problems import JSON
from tests.api.v1.roles import READERS, statuses_by_role
from tests.support.api import Api, Response, api

pytestmark = pytest.mark.one_engine("lists read the snapshot in memory")

HOST = "10000000-0000-0000-0000-000000000001"
NUMA = "10000000-0000-0000-0000-000000000002"
OTHER = "10000000-0000-0000-0000-000000000003"
AGGREGATE = "a0000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
NDJSON = "application/x-ndjson"
LIST = "/plimsoll/v1/providers"


@pytest.fixture
def cloud(client: Api) -> Api:
    """A host with a NUMA node in an aggregate, and another host that is over-full."""
    client.host(HOST, "host1", VCPU=8, MEMORY_MB=1024)
    client.host(NUMA, "host1_numa0", HOST, PCPU=4)
    client.host(OTHER, "zürich", VCPU=4)
    claim(client, OTHER, 4)
    put(client, f"/resource_providers/{OTHER}/inventories", OTHER, inventories={"VCPU": {"total": 2}})
    put(client, f"/resource_providers/{HOST}/aggregates", HOST, aggregates=[AGGREGATE])
    assert client.put("/traits/CUSTOM_FAST").status == 201
    put(client, f"/resource_providers/{HOST}/traits", HOST, traits=["CUSTOM_FAST", "HW_CPU_X86_AVX"])
    return client


def put(client: Api, path: str, uuid: str, **content: Any) -> None:
    generation = client.get(f"/resource_providers/{uuid}").json["generation"]
    response = client.put(path, {"resource_provider_generation": generation, **content})
    assert response.status == 200, response.body


def claim(client: Api, uuid: str, vcpus: int, consumer: str = CONSUMER) -> None:
    body = {
        "allocations": {uuid: {"resources": {"VCPU": vcpus}}},
        "project_id": "engines",
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    response = client.put(f"/allocations/{consumer}", body)
    assert response.status == 204, response.body


def get(client: Api, path: str, **headers: str) -> Response:
    return client.call("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})


def names(client: Api, query: str) -> list[str]:
    response = client.get(f"{LIST}?{query}")
    assert response.status == 200, response.body
    return [each["name"] for each in response.json["providers"]]


def test_a_provider_is_shown_with_everything_about_it(cloud: Api) -> None:
    claim(cloud, HOST, 3, CONSUMER.replace("1", "2"))
    shown = cloud.get(f"{LIST}/{HOST}").json
    assert re.fullmatch("[0-9a-f]{8}:[0-9]+", shown.pop("revision"))
    assert re.fullmatch("20..-..-..T..:..:..Z", shown.pop("updated_at"))
    figures = {"reserved": 0, "min_unit": 1, "max_unit": 2147483647, "step_size": 1, "allocation_ratio": 1.0}
    assert shown == {
        "uuid": HOST,
        "name": "host1",
        "generation": cloud.get(f"/resource_providers/{HOST}").json["generation"],
        "root": HOST,
        "parent": None,
        "inventories": {
            "VCPU": {"total": 8, "capacity": 8, "used": 3, "free": 5, "largest": 5, **figures},
            "MEMORY_MB": {
                "total": 1024,
                "capacity": 1024,
                "used": 0,
                "free": 1024,
                "largest": 1024,
                **figures,
            },
        },
        "traits": ["HW_CPU_X86_AVX", "CUSTOM_FAST"],
        "aggregates": [AGGREGATE],
    }


@pytest.mark.parametrize("text", [NUMA, NUMA.replace("-", ""), "host1_numa0"])
def test_a_provider_is_found_by_uuid_or_name(cloud: Api, text: str) -> None:
    shown = cloud.get(f"{LIST}/{text}").json
    assert (shown["uuid"], shown["root"], shown["parent"]) == (NUMA, HOST, HOST)


def test_a_name_may_have_any_characters(cloud: Api) -> None:
    assert cloud.get(f"{LIST}/zürich").json["uuid"] == OTHER


def test_a_provider_that_does_not_exist_is_a_404(cloud: Api) -> None:
    response = cloud.get(f"{LIST}/host2")
    assert (response.status, response.code) == (404, "placement.resource_provider.not_found")
    assert "No resource provider has the uuid or name 'host2'." in response.detail


def test_a_list_has_all_providers_in_the_order_of_their_creation(cloud: Api) -> None:
    shown = cloud.get(LIST).json
    single = [cloud.get(f"{LIST}/{uuid}").json for uuid in (HOST, NUMA, OTHER)]
    assert all(each.pop("revision") == shown["revision"] for each in single)
    assert shown == {"revision": shown["revision"], "providers": single, "next": None}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("name=host1", ["host1"]),
        ("name=host1*", ["host1", "host1_numa0"]),
        ("name=HOST1", []),
        ("name=z%C3%BCr*", ["zürich"]),
        ("in_tree=host1_numa0", ["host1", "host1_numa0"]),
        (f"in_tree={OTHER.upper()}", ["zürich"]),
        (f"member_of={AGGREGATE}", ["host1"]),
        (f"member_of=!{AGGREGATE}", ["host1_numa0", "zürich"]),
        ("required=CUSTOM_FAST", ["host1"]),
        ("required=!CUSTOM_FAST", ["host1_numa0", "zürich"]),
        ("required=in:CUSTOM_FAST,HW_CPU_X86_SSE", ["host1"]),
        ("required=CUSTOM_FAST&required=HW_CPU_X86_SSE", []),
        ("resources=VCPU:1", ["host1"]),
        ("resources=PCPU:4", ["host1_numa0"]),
        ("over_full=true", ["zürich"]),
        ("over_full=false", ["host1", "host1_numa0"]),
        ("empty=true&name=host1*", ["host1", "host1_numa0"]),
        ("empty=false", ["zürich"]),
        ("required=CUSTOM_FAST&over_full=true", []),
    ],
)
def test_a_list_is_filtered(cloud: Api, query: str, expected: list[str]) -> None:
    assert names(cloud, query) == expected


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("required=CUSTOM_SLOW", "No such trait(s): CUSTOM_SLOW"),
        ("required=!CUSTOM_SLOW", "No such trait(s): CUSTOM_SLOW"),
        ("resources=CUSTOM_SLOW:1", "No such resource class CUSTOM_SLOW"),
        ("resources=VCPU", "Badly formed resources parameter"),
        ("member_of=x", "to contain valid UUID(s)"),
        ("in_tree=nothing", "No resource provider has the uuid or name 'nothing'"),
        ("fields=name,colour", "Invalid value of the query parameter fields"),
        ("limit=0", "less than the minimum of 1"),
        ("after=x", "Invalid value of the query parameter after"),
        ("over_full=perhaps", "is not of type 'boolean'"),
        ("colour=red", "There is no query parameter 'colour' here"),
        (f"name={'x' * 300}", "is too long"),
    ],
)
def test_a_bad_query_is_a_400_with_the_reason(cloud: Api, query: str, reason: str) -> None:
    response = cloud.get(f"{LIST}?{query}")
    assert response.status == 400
    assert reason in response.detail


def test_chosen_fields_are_shown_in_the_usual_order(cloud: Api) -> None:
    shown = cloud.get(f"{LIST}?fields=traits,name&name=host1").json["providers"]
    assert [list(each) for each in shown] == [["name", "traits"]]


def test_pages_continue_after_the_last_provider_even_if_it_was_deleted(cloud: Api) -> None:
    first = cloud.get(f"{LIST}?limit=2").json
    assert [each["uuid"] for each in first["providers"]] == [HOST, NUMA]
    assert cloud.delete(f"/resource_providers/{NUMA}").status == 204
    second = cloud.get(f"{LIST}?limit=2&after={first['next']}").json
    assert ([each["uuid"] for each in second["providers"]], second["next"]) == ([OTHER], None)


def test_json_lines_have_one_provider_each(cloud: Api) -> None:
    whole = cloud.get(LIST).json
    response = get(cloud, f"{LIST}?limit=2", accept=NDJSON)
    assert [json.loads(line) for line in response.body.splitlines()] == whole["providers"][:2]
    assert response.headers["content-type"] == NDJSON
    assert response.headers["plimsoll-revision"] == whole["revision"]
    assert response.headers["plimsoll-next"] == cloud.get(f"{LIST}?limit=2").json["next"]
    assert "plimsoll-next" not in get(cloud, LIST, accept=NDJSON).headers


@pytest.mark.parametrize("path", [LIST, f"{LIST}/{HOST}"])
def test_an_unchanged_response_is_a_304_until_the_next_change(cloud: Api, path: str) -> None:
    tag = cloud.get(path).headers["etag"]
    unchanged = get(cloud, path, if_none_match=tag)
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
    claim(cloud, HOST, 1, CONSUMER.replace("1", "2"))
    changed = get(cloud, path, if_none_match=tag)
    assert changed.status == 200
    assert changed.headers["etag"] != tag
    assert b'"used":1' in changed.body


def test_json_and_json_lines_have_different_tags(cloud: Api) -> None:
    tags = {get(cloud, LIST, accept=kind).headers["etag"] for kind in (JSON, NDJSON)}
    assert len(tags) == 2


def test_a_change_of_one_provider_is_shown_although_the_others_are_cached(cloud: Api) -> None:
    before = cloud.get(LIST).json["providers"]
    body = {"name": "host9", "parent_provider_uuid": None}
    assert cloud.put(f"/resource_providers/{HOST}", body).status == 200
    after = cloud.get(LIST).json["providers"]
    assert after[0]["name"] == "host9"
    assert after[1:] == before[1:]


def test_an_empty_list_is_a_valid_document(client: Api) -> None:
    shown = client.get(LIST).json
    assert shown == {"revision": shown["revision"], "providers": [], "next": None}
    assert get(client, LIST, accept=NDJSON).body == b""


@pytest.mark.parametrize("path", [LIST, f"{LIST}/host1"])
def test_readers_services_and_administrators_may_read(cloud: Api, path: str) -> None:
    assert statuses_by_role(cloud, path) == READERS


def test_the_documents_match_their_schemas(cloud: Api) -> None:
    jsonschema_rs.validate(dict(PROVIDERS.schema), cloud.get(LIST).json)
    jsonschema_rs.validate(dict(PROVIDERS.schema), cloud.get(f"{LIST}?fields=name&limit=1").json)
    jsonschema_rs.validate(dict(PROVIDER.schema), cloud.get(f"{LIST}/host1").json)


@pytest.fixture(scope="module", params=["", "json_cache"])
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """More providers than a body is built of at once, with the cache of their JSON and without."""
    database = tmp_path_factory.mktemp("large") / "placement.sqlite"
    without = [request.param] if request.param else []
    with api(database, plimsoll__disable_fast_paths=without) as client:
        for number in range(MAX_AT_ONCE + 70):
            body = {"name": f"host{number}", "uuid": HOST[:-4] + f"{number:04}"}
            assert client.post("/resource_providers", body).status == 200
        yield client


def test_a_long_list_is_sent_in_pieces_and_has_every_provider(large: Api) -> None:
    for _ in range(2):  # the second time from the cache
        response = large.get(LIST)
        assert "content-length" not in response.headers
        assert [each["name"] for each in response.json["providers"]] == [
            f"host{number}" for number in range(MAX_AT_ONCE + 70)
        ]
        lines = get(large, LIST, accept=NDJSON).body.splitlines()
        assert [json.loads(line) for line in lines] == response.json["providers"]
    one = large.get(f"{LIST}?limit=1")
    assert one.headers["content-length"] == str(len(one.body))
