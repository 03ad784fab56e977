# SPDX-License-Identifier: Apache-2.0

"""Changes of the request and moves of consumers in the answer of GET /plimsoll/v1/explain; each is carried out."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from plimsoll.api.v1.documents.explain import EXPLANATION
from plimsoll.service import make_room
from tests.api.v1.roles import call_as
from tests.support.api import Api

ONE, TWO, THREE = (f"10000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
SMALL, LARGE, OTHER = (f"c0000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
PATH = "/plimsoll/v1/explain"
QUERY = "resources=VCPU:4,MEMORY_MB:512"


def claim(client: Api, consumer: str, uuid: str, project: str = "engines", **resources: int) -> None:
    body = {
        "allocations": {uuid: {"resources": resources}},
        "project_id": project,
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    response = client.put(f"/allocations/{consumer}", body)
    assert response.status == 204, response.body


@pytest.fixture
def cloud(client: Api) -> Api:
    """One host of 8 VCPU with two consumers, one with little memory, one with 2 VCPU left."""
    client.host(ONE, "one", VCPU=8, MEMORY_MB=4096)
    client.host(TWO, "two", VCPU=8, MEMORY_MB=256)
    client.host(THREE, "three", VCPU=4, MEMORY_MB=4096)
    claim(client, SMALL, ONE, VCPU=2, MEMORY_MB=128)
    claim(client, LARGE, ONE, project="looms", VCPU=4, MEMORY_MB=128)
    claim(client, OTHER, THREE, VCPU=2)
    return client


def explain(client: Api, query: str = QUERY) -> Any:
    response = client.get(f"{PATH}?{query}")
    assert response.status == 200, response.body
    jsonschema_rs.validator_for(dict(EXPLANATION.schema)).validate(response.json)
    return response.json


def hosts(client: Api, query: str) -> set[str]:
    found = client.get(f"/allocation_candidates?{query}").json["allocation_requests"]
    return {uuid for each in found for uuid in each["allocations"]}


def test_each_change_gives_as_many_hosts_as_its_text_states(cloud: Api) -> None:
    assert hosts(cloud, QUERY) == set()
    answer = explain(cloud)
    assert [each["text"] for each in answer["relax"]] == [
        "VCPU 4 to 2: 2 hosts",
        "MEMORY_MB 512 to 256: 1 host",
    ]
    for each in answer["relax"]:
        assert len(hosts(cloud, each["query"])) == each["hosts"]
    assert answer["relax"][0]["changes"] == [
        {"kind": "amount", "group": "", "resource_class": "VCPU", "amount": 4, "new_amount": 2}
    ]
    assert answer["relax_is_complete"]


def test_a_move_that_is_carried_out_makes_room(cloud: Api) -> None:
    rooms = {each["host"]["name"]: each for each in explain(cloud)["make_room"]}
    assert rooms["one"]["moves"] == [
        {
            "consumer": SMALL,
            "project": "engines",
            "resources": {"MEMORY_MB": 128, "VCPU": 2},
            "to": [{"provider": {"uuid": TWO, "name": "two"}, "resources": {"VCPU": 2, "MEMORY_MB": 128}}],
        }
    ]
    assert rooms["one"]["fewest"]
    assert rooms["one"]["text"] == f"one: move 1 consumer, {SMALL} (MEMORY_MB 128, VCPU 2), to two"
    for room in rooms.values():
        for move in room["moves"]:
            holds = cloud.get(f"/allocations/{move['consumer']}").json
            moved = {each["provider"]["uuid"]: {"resources": each["resources"]} for each in move["to"]}
            body = {name: holds[name] for name in ("project_id", "user_id", "consumer_generation")}
            body |= {"consumer_type": "INSTANCE", "allocations": moved}
            assert cloud.put(f"/allocations/{move['consumer']}", body).status == 204
        assert room["host"]["uuid"] in hosts(cloud, QUERY)


def test_a_request_that_never_fits_has_no_moves(cloud: Api) -> None:
    answer = explain(cloud, "resources=VCPU:9")
    assert (answer["verdict"], answer["make_room"]) == ("never", [])


def test_moves_can_be_left_out(cloud: Api) -> None:
    assert explain(cloud, f"{QUERY}&make_room=false")["make_room"] == []
    assert explain(cloud, f"{QUERY}&relax=false")["relax"] == []


def test_consumers_of_other_projects_are_not_named(cloud: Api) -> None:
    query = f"{PATH}?resources=VCPU:6,MEMORY_MB:512"
    as_admin = call_as(cloud, "admin", query).json["make_room"]
    assert [move["consumer"] for move in as_admin[0]["moves"]] == [LARGE]
    as_reader = call_as(cloud, "reader", query, project="engines")
    assert as_reader.status == 200
    (move,) = as_reader.json["make_room"][0]["moves"]
    assert (move["consumer"], move["project"], move["resources"]["VCPU"]) == (None, None, 4)
    assert LARGE not in as_reader.body.decode()
    assert "looms" not in as_reader.body.decode()
    of_its_project = call_as(cloud, "reader", query, project="looms")
    assert [move["consumer"] for move in of_its_project.json["make_room"][0]["moves"]] == [LARGE]
    assert len({each.headers["etag"] for each in (as_reader, of_its_project)}) == 2


def test_the_text_has_the_moves(cloud: Api) -> None:
    response = cloud.call("GET", f"{PATH}?{QUERY}", headers={"Accept": "text/plain"})
    assert f"Moves that would make room\n  one: move 1 consumer, {SMALL}" in response.body.decode()


def test_traits_that_are_never_together_are_named(cloud: Api) -> None:
    for uuid, trait in ((ONE, "HW_CPU_X86_AVX"), (TWO, "HW_CPU_X86_AVX2")):
        generation = cloud.get(f"/resource_providers/{uuid}").json["generation"]
        body = {"resource_provider_generation": generation, "traits": [trait]}
        assert cloud.put(f"/resource_providers/{uuid}/traits", body).status == 200
    answer = explain(cloud, "resources=VCPU:1&required=HW_CPU_X86_AVX,HW_CPU_X86_AVX2")
    assert [each["text"] for each in answer["never_together"]] == [
        "No host has HW_CPU_X86_AVX and HW_CPU_X86_AVX2 together."
    ]


def test_a_search_for_moves_that_is_cut_short_is_reported_as_incomplete(
    cloud: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_room, "MAKE_ROOM_SECONDS", 0.0)
    response = cloud.get(f"{PATH}?{QUERY}")
    assert (response.json["make_room"], response.json["make_room_is_complete"]) == ([], False)
    assert "etag" not in response.headers


def test_hosts_with_too_many_consumers_are_left_out(cloud: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_room, "MAX_CONSUMERS", 1)
    answer = explain(cloud)
    assert "one" not in [room["host"]["name"] for room in answer["make_room"]]
    assert not answer["make_room_is_complete"]
