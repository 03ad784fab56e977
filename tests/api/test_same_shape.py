# SPDX-License-Identifier: Apache-2.0

"""Allocations have the same shape when read and when written (seed 003), and so have candidates."""

import pytest

from tests.support.api import Api

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
LISTED = {"allocations": [{"resource_provider": {"uuid": HOST}, "resources": {"VCPU": 2}}]}
KEYED = {"allocations": {HOST: {"resources": {"VCPU": 2}}}}
OWNER = {"project_id": "red", "user_id": "ann"}


@pytest.fixture(autouse=True)
def _a_host(client: Api) -> None:
    client.host(HOST, VCPU=10)


def test_old_clients_write_lists_and_new_ones_write_what_they_read(client: Api) -> None:
    path = f"/allocations/{CONSUMER}"
    assert client.put(path, LISTED, "1.7").status == 204
    assert client.put(path, {**LISTED, **OWNER}, "1.11").status == 204
    assert client.put(path, {**KEYED, **OWNER}, "1.11").status == 400
    assert client.put(path, {**LISTED, **OWNER}, "1.12").status == 400
    assert client.put(path, {**KEYED, **OWNER}, "1.12").status == 204


@pytest.mark.parametrize("version", ["1.12", "1.27", "1.28", "1.34", "1.38", "1.39"])
def test_allocations_can_be_written_as_they_were_read(client: Api, version: str) -> None:
    path = f"/allocations/{CONSUMER}"
    assert client.put(path, {**KEYED, **OWNER}, "1.12").status == 204
    shown = client.get(path, version).json
    assert shown["allocations"][HOST]["generation"] == 2
    assert {key: shown[key] for key in OWNER} == OWNER
    if version >= "1.38":
        shown["consumer_type"] = "INSTANCE"
    assert client.put(path, shown, version).status == 204


def test_owners_are_shown_since_allocations_are_keyed(client: Api) -> None:
    client.put(f"/allocations/{CONSUMER}", {**KEYED, **OWNER}, "1.12")
    assert "project_id" not in client.get(f"/allocations/{CONSUMER}", "1.11").json


@pytest.mark.parametrize(("version", "shape"), [("1.10", LISTED), ("1.11", LISTED), ("1.12", KEYED)])
def test_a_candidate_has_the_shape_of_a_claim(client: Api, version: str, shape: dict[str, object]) -> None:
    (found,) = client.get("/allocation_candidates?resources=VCPU:2", version).json["allocation_requests"]
    assert found == shape
    claim = {**found, **OWNER}
    assert client.put(f"/allocations/{CONSUMER}", claim, version).status == 204


def test_a_candidate_with_its_mappings_can_be_claimed_as_it_is(client: Api) -> None:
    (found,) = client.get("/allocation_candidates?resources_A=VCPU:2").json["allocation_requests"]
    assert found["mappings"] == {"_A": [HOST]}
    claim = {**found, **OWNER, "consumer_generation": None, "consumer_type": "INSTANCE"}
    assert client.put(f"/allocations/{CONSUMER}", claim).status == 204
