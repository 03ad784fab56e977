# SPDX-License-Identifier: Apache-2.0

"""Project and user of a consumer (seed 001), and the list of an owner's allocations."""

import pytest

from tests.support.api import Api

HOST = "10000000-0000-0000-0000-000000000001"
OTHER = "10000000-0000-0000-0000-000000000002"


@pytest.fixture(autouse=True)
def _claims(client: Api) -> None:
    client.host(HOST, VCPU=100, MEMORY_MB=1000)
    client.host(OTHER, VCPU=100)
    claim(client, 1, "red", "ann", {HOST: {"VCPU": 2, "MEMORY_MB": 512}})
    claim(client, 2, "red", "bob", {HOST: {"VCPU": 4}, OTHER: {"VCPU": 1}})
    claim(client, 3, "blue", "ann", {OTHER: {"VCPU": 8}})


def claim(client: Api, number: int, project: str, user: str, wanted: dict[str, dict[str, int]]) -> None:
    body = {
        "allocations": {provider: {"resources": resources} for provider, resources in wanted.items()},
        "project_id": project,
        "user_id": user,
    }
    assert client.put(f"/allocations/c0000000-0000-0000-0000-00000000000{number}", body, "1.12").status == 204


def entry(provider: str, **resources: int) -> dict[str, object]:
    return {"resource_provider": {"uuid": provider}, "resources": resources}


@pytest.mark.parametrize("version", ["1.8", "1.9", "1.28", "1.39"])
def test_the_allocations_of_a_project_are_listed(client: Api, version: str) -> None:
    response = client.get("/allocations?project_id=red", version)
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert sorted(response.json["allocations"], key=str) == sorted(
        [entry(HOST, VCPU=2, MEMORY_MB=512), entry(HOST, VCPU=4), entry(OTHER, VCPU=1)], key=str
    )


def test_the_allocations_of_a_user_are_listed(client: Api) -> None:
    listed = client.get("/allocations?project_id=red&user_id=bob", "1.8").json["allocations"]
    assert sorted(listed, key=str) == sorted([entry(HOST, VCPU=4), entry(OTHER, VCPU=1)], key=str)
    assert client.get("/allocations?project_id=green").json == {"allocations": []}


def test_without_a_project_the_list_is_a_405_as_in_the_reference(client: Api) -> None:
    for path in ("/allocations", "/allocations?user_id=ann"):
        response = client.get(path)
        assert response.status == 405
        assert response.headers["allow"] == "POST"


def test_clients_from_before_owners_get_no_list(client: Api) -> None:
    assert client.get("/allocations?project_id=red", "1.7").status == 405


def test_unknown_and_empty_parameters_are_refused(client: Api) -> None:
    assert client.get("/allocations?project_id=red&colour=blue").status == 400
    assert client.get("/allocations?project_id=").status == 400
    assert client.get(f"/allocations?project_id={'x' * 256}").status == 400


def test_usages_of_a_project_and_of_a_user(client: Api) -> None:
    assert client.get("/usages?project_id=red", "1.9").json == {"usages": {"VCPU": 7, "MEMORY_MB": 512}}
    assert client.get("/usages?project_id=red&user_id=bob", "1.9").json == {"usages": {"VCPU": 5}}


def test_an_owner_can_be_changed_with_the_next_claim(client: Api) -> None:
    claim(client, 1, "blue", "eve", {HOST: {"VCPU": 2}})
    assert client.get("/usages?project_id=red", "1.9").json == {"usages": {"VCPU": 5}}
    assert client.get("/usages?project_id=blue&user_id=eve", "1.9").json == {"usages": {"VCPU": 2}}


@pytest.mark.parametrize("version", ["1.9", "1.37", "1.38", "1.39"])
@pytest.mark.parametrize("roles", ["admin", "reader", ""])
@pytest.mark.parametrize("parameter", ["project_id", "project_id=a&project_id"])
def test_an_id_of_a_project_that_is_too_long_is_refused_for_every_caller(
    client: Api, version: str, roles: str, parameter: str
) -> None:
    headers = {"X-Auth-Token": "ann:red", "X-Roles": roles}
    for length, statuses in ((255, {"admin": 200}), (256, {}), (100_000, {})):
        response = client.call("GET", f"/usages?{parameter}={'p' * length}", version=version, headers=headers)
        assert response.status == statuses.get(roles, 400 if length > 255 else 403)
        assert length <= 255 or "Invalid query string parameters" in response.detail


def test_an_id_of_a_user_that_is_too_long_is_refused(client: Api) -> None:
    assert client.get(f"/usages?project_id=red&user_id={'u' * 256}").status == 400
    assert client.get(f"/allocations?project_id={'p' * 256}").status == 400
