# SPDX-License-Identifier: Apache-2.0

"""A claim of nothing by a consumer that does not exist: accepted, and nothing is left of it."""

import pytest

from tests.support.api import Answer, Api

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
OTHER = "c0000000-0000-0000-0000-000000000002"


def claim(vcpu: int, generation: int | None) -> dict[str, object]:
    return {
        "allocations": {HOST: {"resources": {"VCPU": vcpu}}} if vcpu else {},
        "project_id": "new-project",
        "user_id": "new-user",
        "consumer_type": "NEW_TYPE",
        "consumer_generation": generation,
    }


def send(client: Api, method: str, vcpu: int, generation: int | None) -> Answer:
    body = claim(vcpu, generation)
    if method == "PUT":
        return client.put(f"/allocations/{CONSUMER}", body)
    return client.post("/allocations", {CONSUMER: body})


def rows(client: Api, table: str) -> int:
    with client.database.read() as conn:
        count: int = conn.exec_driver_sql(f"SELECT COUNT(*) FROM {table}").scalar_one()
        return count


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_nothing_is_left_of_an_empty_claim(client: Api, method: str) -> None:
    tables = ("consumers", "projects", "users", "consumer_types", "plimsoll_changes")
    before = [rows(client, table) for table in tables]
    for _ in range(2):
        assert send(client, method, 0, None).status == 204
        assert [rows(client, table) for table in tables] == before


def test_nothing_is_left_of_an_empty_claim_of_an_older_client(client: Api) -> None:
    before = rows(client, "consumers")
    body = {CONSUMER: {"allocations": {}, "project_id": "new-project", "user_id": "new-user"}}
    assert client.post("/allocations", body, "1.13").status == 204
    assert rows(client, "consumers") == before


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_consumer_that_exists_is_not_taken_for_a_new_one(client: Api, method: str) -> None:
    client.host(HOST, VCPU=10)
    assert send(client, method, 1, None).status == 204
    refused = send(client, method, 0, None)
    assert refused.status == 409
    assert "consumer generation conflict" in refused.detail
    assert client.get(f"/allocations/{CONSUMER}").json["allocations"][HOST]["resources"] == {"VCPU": 1}


def test_an_empty_claim_beside_another_leaves_only_the_other(client: Api) -> None:
    client.host(HOST, VCPU=10)
    assert client.post("/allocations", {CONSUMER: claim(0, None), OTHER: claim(1, None)}).status == 204
    assert rows(client, "consumers") == 1
    assert send(client, "PUT", 2, None).status == 204
