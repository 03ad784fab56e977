# SPDX-License-Identifier: Apache-2.0

"""An empty claim for a consumer that does not exist is accepted and writes nothing."""

import pytest

from tests.support.api import Api, Response

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


def send(client: Api, method: str, vcpu: int, generation: int | None) -> Response:
    body = claim(vcpu, generation)
    if method == "PUT":
        return client.put(f"/allocations/{CONSUMER}", body)
    return client.post("/allocations", {CONSUMER: body})


def rows(client: Api, table: str) -> int:
    with client.database.read() as conn:
        count: int = conn.exec_driver_sql(f"SELECT COUNT(*) FROM {table}").scalar_one()
        return count


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_an_empty_claim_writes_no_row(client: Api, method: str) -> None:
    tables = ("consumers", "projects", "users", "consumer_types", "plimsoll_changes")
    before = [rows(client, table) for table in tables]
    for _ in range(2):
        assert send(client, method, 0, None).status == 204
        assert [rows(client, table) for table in tables] == before


def test_an_empty_claim_of_an_older_client_writes_no_row(client: Api) -> None:
    before = rows(client, "consumers")
    body = {CONSUMER: {"allocations": {}, "project_id": "new-project", "user_id": "new-user"}}
    assert client.post("/allocations", body, "1.13").status == 204
    assert rows(client, "consumers") == before


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_an_empty_claim_for_an_existing_consumer_needs_its_generation(client: Api, method: str) -> None:
    client.host(HOST, VCPU=10)
    assert send(client, method, 1, None).status == 204
    refused = send(client, method, 0, None)
    assert refused.status == 409
    assert "consumer generation conflict" in refused.detail
    assert client.get(f"/allocations/{CONSUMER}").json["allocations"][HOST]["resources"] == {"VCPU": 1}


def test_an_empty_claim_beside_another_writes_only_the_other(client: Api) -> None:
    client.host(HOST, VCPU=10)
    assert client.post("/allocations", {CONSUMER: claim(0, None), OTHER: claim(1, None)}).status == 204
    assert rows(client, "consumers") == 1
    assert send(client, "PUT", 2, None).status == 204
