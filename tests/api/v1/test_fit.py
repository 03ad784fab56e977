# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/fit, on each engine."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from plimsoll.api.v1.documents.fit import FIT
from plimsoll.service import fit as service
from tests.api.v1.roles import READERS, statuses_by_role
from tests.support.api import Api

pytestmark = pytest.mark.one_engine("it reads the snapshot in memory")

ONE = "10000000-0000-0000-0000-000000000001"
TWO = "10000000-0000-0000-0000-000000000002"
GPU = "10000000-0000-0000-0000-000000000003"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
PATH = "/plimsoll/v1/fit"


@pytest.fixture
def cloud(client: Api) -> Api:
    """Two hosts, of which one is in use, with 16 and 4 VCPU."""
    client.host(ONE, "one", VCPU=16, MEMORY_MB=4096)
    client.host(TWO, "two", VCPU=4, MEMORY_MB=4096)
    body = {
        "allocations": {ONE: {"resources": {"VCPU": 3, "MEMORY_MB": 3072}}},
        "project_id": "engines",
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    assert client.put(f"/allocations/{CONSUMER}", body).status == 204
    return client


def fit(client: Api, query: str) -> Any:
    response = client.get(f"{PATH}?{query}")
    assert response.status == 200, response.body
    jsonschema_rs.validator_for(dict(FIT.schema)).validate(response.json)
    return response.json


def test_instances_are_counted_now_and_in_the_empty_cloud(cloud: Api) -> None:
    answer = fit(cloud, "resources=VCPU:2,MEMORY_MB:512")
    assert answer["now"] == {
        "instances": 2 + 2,
        "hosts": 2,
        "exact": True,
        "complete": True,
        "limiting_class": "VCPU",
        "limits": {"VCPU": 1, "MEMORY_MB": 1},
    }
    assert (answer["empty"]["instances"], answer["empty"]["hosts"]) == (8 + 2, 2)


def test_as_many_can_be_claimed_as_fit(cloud: Api) -> None:
    query = "resources=VCPU:2,MEMORY_MB:512"
    for left in (4, 3, 2, 1, 0):
        assert fit(cloud, query)["now"]["instances"] == left
        found = cloud.get(f"/allocation_candidates?{query}").json["allocation_requests"]
        assert bool(found) == (left > 0)
        if found:
            body = {
                "allocations": found[0]["allocations"],
                "project_id": "engines",
                "user_id": "ada",
                "consumer_generation": None,
                "consumer_type": "INSTANCE",
            }
            assert cloud.put(f"/allocations/d0000000-0000-0000-0000-00000000000{left}", body).status == 204


def test_devices_of_a_tree_are_counted(cloud: Api) -> None:
    cloud.host(GPU, "gpu", TWO, VGPU=3)
    answer = fit(cloud, "resources=VCPU:1&resources_GPU=VGPU:1")
    assert (answer["now"]["instances"], answer["now"]["hosts"]) == (3, 1)
    assert answer["now"]["limiting_class"] == "VGPU"


def test_what_never_fits_is_zero(cloud: Api) -> None:
    answer = fit(cloud, "resources=VCPU:17&limit=3")
    for part in (answer["now"], answer["empty"]):
        assert (part["instances"], part["hosts"], part["exact"], part["limiting_class"]) == (0, 0, True, None)


def test_the_response_has_an_entity_tag(cloud: Api) -> None:
    first = cloud.get(f"{PATH}?resources=VCPU:1")
    again = cloud.call("GET", f"{PATH}?resources=VCPU:1", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_a_count_that_was_cut_short_is_not_cached_by_the_client(
    cloud: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "FIT_SECONDS", 0.0)
    response = cloud.get(f"{PATH}?resources=VCPU:1")
    assert "etag" not in response.headers
    part = response.json["now"]
    assert (part["exact"], part["complete"], part["limits"]) == (False, False, {})


@pytest.mark.parametrize(
    "query",
    [
        "",
        "resources=",
        "resources=VCPU:0",
        "resources=VCPU:1&unknown=1",
        "resources=CUSTOM_UNKNOWN:1",
        "resources=VCPU:1&required=CUSTOM_UNKNOWN",
        "resources1=VCPU:1&resources2=VCPU:1",
    ],
)
def test_a_query_is_refused_as_by_the_placement_api(cloud: Api, query: str) -> None:
    response, as_there = cloud.get(f"{PATH}?{query}"), cloud.get(f"/allocation_candidates?{query}")
    assert (response.status, as_there.status) == (400, 400)
    assert response.json["errors"][0]["detail"] == as_there.json["errors"][0]["detail"]


def test_readers_may_read(cloud: Api) -> None:
    assert statuses_by_role(cloud, f"{PATH}?resources=VCPU:1") == READERS
