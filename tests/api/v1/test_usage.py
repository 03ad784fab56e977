# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/usage, on each engine."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from plimsoll.api.v1.documents.usage import GROUPINGS, USAGE
from tests.api.v1.roles import READERS, call_as, statuses_by_role
from tests.support.api import Api

FULL = "10000000-0000-0000-0000-000000000001"
FREE = "10000000-0000-0000-0000-000000000002"
CHILD = "10000000-0000-0000-0000-000000000003"
AGGREGATE = "a0000000-0000-0000-0000-000000000001"
PATH = "/plimsoll/v1/usage"


def claim(client: Api, number: int, project: str, user: str, kind: str, **amounts: dict[str, int]) -> None:
    body = {
        "allocations": {
            uuid.replace("_", "-"): {"resources": resources} for uuid, resources in amounts.items()
        },
        "project_id": project,
        "user_id": user,
        "consumer_generation": None,
        "consumer_type": kind,
    }
    response = client.put(f"/allocations/c0000000-0000-0000-0000-{number:012}", body)
    assert response.status == 204, response.body


@pytest.fixture
def cloud(client: Api) -> Api:
    """A host without free VCPU, in an aggregate; a host with a child; consumers of two projects."""
    client.host(FULL, "full", VCPU=4, MEMORY_MB=1000)
    client.host(FREE, "free", VCPU=8, MEMORY_MB=1000)
    client.host(CHILD, "free_gpu", FREE, VGPU=2)
    assert client.put("/traits/CUSTOM_FAST").status == 201
    body = {"resource_provider_generation": 1, "traits": ["CUSTOM_FAST"]}
    assert client.put(f"/resource_providers/{FREE}/traits", body).status == 200
    aggregates = {"resource_provider_generation": 1, "aggregates": [AGGREGATE]}
    assert client.put(f"/resource_providers/{FULL}/aggregates", aggregates).status == 200
    full, free, child = (uuid.replace("-", "_") for uuid in (FULL, FREE, CHILD))
    claim(client, 1, "engines", "ada", "INSTANCE", **{full: {"VCPU": 3, "MEMORY_MB": 100}})
    claim(client, 2, "Looms", "Joseph", "MIGRATION", **{full: {"VCPU": 1}})
    claim(client, 3, "engines", "charles", "INSTANCE", **{free: {"VCPU": 1}, child: {"VGPU": 1}})
    return client


def groups(client: Api, query: str) -> dict[str | None, Any]:
    response = client.get(f"{PATH}?{query}")
    assert response.status == 200, response.body
    return {each.pop("group"): each for each in response.json["groups"]}


def used(client: Api, query: str) -> dict[str | None, Any]:
    """Return consumers and usage of each group."""
    return {
        key: (group["consumers"], {name: figures["used"] for name, figures in group["resources"].items()})
        for key, group in groups(client, query).items()
    }


def test_the_whole_has_the_sums_of_each_class(cloud: Api) -> None:
    shown = cloud.get(PATH).json
    assert (shown["group_by"], shown["next"]) == (None, None)
    (whole,) = shown["groups"]
    assert (whole["group"], whole["providers"]) == (None, 3)
    assert whole["resources"] == {
        "MEMORY_MB": {
            **{"providers": 2, "total": 2000, "reserved": 0, "capacity": 2000},
            **{"used": 100, "free": 1900, "largest": 1000, "stranded": 900, "stranded_by": {"VCPU": 900}},
        },
        "VCPU": {
            **{"providers": 2, "total": 12, "reserved": 0, "capacity": 12},
            **{"used": 5, "free": 7, "largest": 7, "stranded": 0, "stranded_by": {}},
        },
        "VGPU": {
            **{"providers": 1, "total": 2, "reserved": 0, "capacity": 2},
            **{"used": 1, "free": 1, "largest": 1, "stranded": 0, "stranded_by": {}},
        },
    }


def test_roots_have_a_name_and_include_their_trees(cloud: Api) -> None:
    found = groups(cloud, "group_by=root")
    assert {key: (each["name"], each["providers"]) for key, each in found.items()} == {
        FULL: ("full", 1),
        FREE: ("free", 2),
    }
    assert found[FREE]["resources"]["VGPU"]["used"] == 1


@pytest.mark.parametrize(
    ("grouping", "expected"), [("aggregate", {AGGREGATE: 1, None: 2}), ("trait", {"CUSTOM_FAST": 1, None: 2})]
)
def test_providers_are_grouped_and_those_without_have_a_group(
    cloud: Api, grouping: str, expected: dict[str | None, int]
) -> None:
    found = groups(cloud, f"group_by={grouping}")
    assert {key: each["providers"] for key, each in found.items()} == expected
    assert list(found)[-1] is None


def test_owners_are_grouped_by_project_user_and_type(cloud: Api) -> None:
    assert used(cloud, "group_by=project") == {
        "engines": (2, {"VCPU": 4, "MEMORY_MB": 100, "VGPU": 1}),
        "Looms": (1, {"VCPU": 1}),
    }
    assert used(cloud, "group_by=user") == {
        "ada": (1, {"VCPU": 3, "MEMORY_MB": 100}),
        "charles": (1, {"VCPU": 1, "VGPU": 1}),
        "Joseph": (1, {"VCPU": 1}),
    }
    assert used(cloud, "group_by=consumer_type") == {
        "INSTANCE": (2, {"VCPU": 4, "MEMORY_MB": 100, "VGPU": 1}),
        "MIGRATION": (1, {"VCPU": 1}),
    }


def test_the_owners_of_one_project_can_be_chosen(cloud: Api) -> None:
    assert list(used(cloud, "group_by=user&project=engines")) == ["ada", "charles"]
    assert list(used(cloud, "group_by=project&project=Looms")) == ["Looms"]
    assert list(used(cloud, "group_by=consumer_type&project=Looms")) == ["MIGRATION"]
    assert used(cloud, "group_by=project&project=nothing") == {}


@pytest.mark.parametrize("grouping", ["project", "user", "consumer_type"])
def test_a_reader_sees_the_owners_of_the_own_project_only(cloud: Api, grouping: str) -> None:
    own = call_as(cloud, "reader", f"{PATH}?group_by={grouping}", "Looms").json["groups"]
    assert [(each["consumers"], each["resources"]) for each in own] == [(1, {"VCPU": {"used": 1}})]
    assert call_as(cloud, "reader", f"{PATH}?group_by={grouping}&project=Looms", "Looms").status == 200
    other = call_as(cloud, "reader", f"{PATH}?group_by={grouping}&project=engines", "Looms")
    assert other.status == 403
    assert "plimsoll:projects:all" in other.detail


def test_readers_of_different_projects_have_different_tags(cloud: Api) -> None:
    path = f"{PATH}?group_by=user"
    tags = {call_as(cloud, "reader", path, project).headers["etag"] for project in ("Looms", "engines")}
    tags.add(call_as(cloud, "admin", path).headers["etag"])
    assert len(tags) == 3


def test_an_unchanged_response_is_a_304_until_the_next_change(cloud: Api) -> None:
    tag = cloud.get(PATH).headers["etag"]
    assert cloud.call("GET", PATH, headers={"If-None-Match": tag}).status == 304
    claim(cloud, 4, "engines", "ada", "INSTANCE", **{FREE.replace("-", "_"): {"VCPU": 1}})
    assert cloud.call("GET", PATH, headers={"If-None-Match": tag}).status == 200


def test_groups_are_paged(cloud: Api) -> None:
    first = cloud.get(f"{PATH}?group_by=trait&limit=1").json
    assert ([each["group"] for each in first["groups"]], first["next"]) == (["CUSTOM_FAST"], "CUSTOM_FAST")
    second = cloud.get(f"{PATH}?group_by=trait&limit=1&after=CUSTOM_FAST").json
    assert ([each["group"] for each in second["groups"]], second["next"]) == ([None], None)


def test_json_lines_have_one_group_each(cloud: Api) -> None:
    headers = {"Accept": "application/x-ndjson"}
    lines = cloud.call("GET", f"{PATH}?group_by=root", headers=headers).body.splitlines()
    assert [json.loads(line) for line in lines] == cloud.get(f"{PATH}?group_by=root").json["groups"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("group_by=colour", "'colour' is not one of"),
        ("project=engines", "The parameter project needs group_by=project, user, consumer_type."),
        ("group_by=root&project=engines", "The parameter project needs"),
        ("colour=red", "There is no query parameter 'colour' here"),
    ],
)
def test_a_bad_query_is_a_400_with_the_reason(cloud: Api, query: str, reason: str) -> None:
    response = cloud.get(f"{PATH}?{query}")
    assert response.status == 400
    assert reason in response.detail


def test_readers_services_and_administrators_may_read(cloud: Api) -> None:
    assert statuses_by_role(cloud, PATH) == READERS


@pytest.mark.parametrize("query", ["", *(f"?group_by={each}" for each in GROUPINGS)])
def test_the_document_matches_its_schema(cloud: Api, query: str) -> None:
    shown = cloud.get(PATH + query).json
    jsonschema_rs.validate(dict(USAGE.schema), shown)
    assert shown["groups"]


def test_an_empty_cloud_has_no_classes(client: Api) -> None:
    assert client.get(PATH).json["groups"] == [{"group": None, "providers": 0, "resources": {}}]
    for grouping in GROUPINGS:
        assert groups(client, f"group_by={grouping}") == {}
