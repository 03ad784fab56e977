# SPDX-License-Identifier: Apache-2.0

"""Consumer generations (seed 002), every case of its table.

Three states of a consumer, three ranges of client versions, two methods. Each test is named after its case:
state, method, version.
"""

import pytest

from tests.support.api import Api, Response
from tests.support.external_writes import external_transaction

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
DEFAULT_PROJECT = "00000000-0000-0000-0000-000000000000"

BEFORE_OWNERS = ["1.0", "1.7"]
BEFORE_GENERATIONS = ["1.8", "1.11", "1.12", "1.27"]
BEFORE_GENERATIONS_POST = ["1.13", "1.27"]
WITH_GENERATIONS = ["1.28", "1.33", "1.34", "1.37", "1.38", "1.39"]


@pytest.fixture(autouse=True)
def _a_host(client: Api) -> None:
    client.host(HOST, VCPU=100)


def minor(version: str) -> int:
    return int(version.split(".")[1])


def body(
    version: str, vcpu: int, generation: int | None = None, project: str = "new-project"
) -> dict[str, object]:
    """Return the body that a client of this version sends."""
    resources = {"VCPU": vcpu}
    sent: dict[str, object] = {"allocations": {HOST: {"resources": resources}} if vcpu else {}}
    if minor(version) < 12:
        sent["allocations"] = [{"resource_provider": {"uuid": HOST}, "resources": resources}]
    if minor(version) >= 8:
        sent |= {"project_id": project, "user_id": "new-user"}
    if minor(version) >= 28:
        sent["consumer_generation"] = generation
    if minor(version) >= 38:
        sent["consumer_type"] = "INSTANCE"
    return sent


def put(client: Api, version: str, vcpu: int, generation: int | None = None) -> Response:
    return client.put(f"/allocations/{CONSUMER}", body(version, vcpu, generation), version)


def post(client: Api, version: str, vcpu: int, generation: int | None = None) -> Response:
    return client.post("/allocations", {CONSUMER: body(version, vcpu, generation)}, version)


def allocated(client: Api) -> tuple[int, str, int]:
    """Return the allocated VCPU, the project and the generation of the consumer."""
    shown = client.get(f"/allocations/{CONSUMER}").json
    return shown["allocations"][HOST]["resources"]["VCPU"], shown["project_id"], shown["consumer_generation"]


def given_allocations_without_a_record(client: Api) -> None:
    """Write allocations without a consumer row, as releases before consumer records did."""
    put(client, "1.28", 5)
    with external_transaction(client.database) as conn:
        conn.exec_driver_sql("DELETE FROM consumers")


def given_a_consumer(client: Api) -> None:
    assert put(client, "1.28", 5).status == 204
    assert allocated(client) == (5, "new-project", 1)


# No allocations, no consumer


@pytest.mark.parametrize("version", BEFORE_OWNERS)
def test_no_consumer_put_before_owners_makes_one_with_the_operators_project(
    client: Api, version: str
) -> None:
    assert put(client, version, 2).status == 204
    assert allocated(client) == (2, DEFAULT_PROJECT, 1)


@pytest.mark.parametrize("version", BEFORE_GENERATIONS)
def test_no_consumer_put_before_generations_makes_one(client: Api, version: str) -> None:
    assert put(client, version, 2).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_consumer_put_with_null_makes_one(client: Api, version: str) -> None:
    assert put(client, version, 2, None).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_consumer_put_with_a_generation_is_a_conflict(client: Api, version: str) -> None:
    before = client.state()
    response = put(client, version, 2, 0)
    assert (response.status, response.code) == (409, "placement.concurrent_update")
    assert "consumer generation conflict - expected null but got 0" in response.detail
    assert client.state() == before


@pytest.mark.parametrize("version", BEFORE_GENERATIONS_POST)
def test_no_consumer_post_before_generations_makes_one(client: Api, version: str) -> None:
    assert post(client, version, 2).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_consumer_post_with_null_makes_one(client: Api, version: str) -> None:
    assert post(client, version, 2, None).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_consumer_post_with_a_generation_is_a_conflict(client: Api, version: str) -> None:
    response = post(client, version, 2, 3)
    assert (response.status, response.code) == (409, "placement.concurrent_update")
    assert "expected null but got 3" in response.detail


# Allocations, but no record of the consumer


@pytest.mark.parametrize("version", BEFORE_OWNERS)
def test_no_record_put_before_owners_makes_one_with_the_operators_project(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert put(client, version, 2).status == 204
    assert allocated(client) == (2, DEFAULT_PROJECT, 1)


@pytest.mark.parametrize("version", BEFORE_GENERATIONS)
def test_no_record_put_before_generations_makes_one(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert put(client, version, 2).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_record_put_with_null_makes_one(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert put(client, version, 2, None).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_record_put_with_a_generation_is_a_conflict(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert put(client, version, 2, 0).status == 409


@pytest.mark.parametrize("version", BEFORE_GENERATIONS_POST)
def test_no_record_post_before_generations_makes_one(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert post(client, version, 2).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_record_post_with_null_makes_one(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert post(client, version, 2, None).status == 204
    assert allocated(client) == (2, "new-project", 1)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_no_record_post_with_a_generation_is_a_conflict(client: Api, version: str) -> None:
    given_allocations_without_a_record(client)
    assert post(client, version, 2, 1).status == 409


# An existing consumer


@pytest.mark.parametrize("version", [*BEFORE_OWNERS, *BEFORE_GENERATIONS])
def test_existing_consumer_put_before_generations_overwrites_and_raises(client: Api, version: str) -> None:
    given_a_consumer(client)
    assert put(client, version, 2).status == 204
    owner = DEFAULT_PROJECT if version in BEFORE_OWNERS else "new-project"
    assert allocated(client) == (2, owner, 2)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_existing_consumer_put_with_its_generation_overwrites_and_raises(client: Api, version: str) -> None:
    given_a_consumer(client)
    assert put(client, version, 2, 1).status == 204
    assert allocated(client) == (2, "new-project", 2)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
@pytest.mark.parametrize("generation", [None, 0, 2])
def test_existing_consumer_put_with_another_generation_is_a_conflict(
    client: Api, version: str, generation: int | None
) -> None:
    given_a_consumer(client)
    before = client.state()
    response = put(client, version, 2, generation)
    assert (response.status, response.code) == (409, "placement.concurrent_update")
    assert f"consumer generation conflict - expected 1 but got {generation}" in response.detail
    assert client.state() == before


@pytest.mark.parametrize("version", BEFORE_GENERATIONS_POST)
def test_existing_consumer_post_before_generations_overwrites_and_raises(client: Api, version: str) -> None:
    given_a_consumer(client)
    assert post(client, version, 2).status == 204
    assert allocated(client) == (2, "new-project", 2)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_existing_consumer_post_with_its_generation_overwrites_and_raises(client: Api, version: str) -> None:
    given_a_consumer(client)
    assert post(client, version, 2, 1).status == 204
    assert allocated(client) == (2, "new-project", 2)


@pytest.mark.parametrize("version", WITH_GENERATIONS)
def test_existing_consumer_post_with_another_generation_is_a_conflict(client: Api, version: str) -> None:
    given_a_consumer(client)
    assert post(client, version, 2, None).status == 409
    assert allocated(client) == (5, "new-project", 1)


# Removal


@pytest.mark.parametrize("write", [put, post])
def test_empty_allocations_remove_a_consumer_safely(client: Api, write) -> None:  # type: ignore[no-untyped-def]
    given_a_consumer(client)
    assert write(client, "1.28", 0, 0).status == 409
    assert write(client, "1.28", 0, 1).status == 204
    assert client.get(f"/allocations/{CONSUMER}").json == {"allocations": {}}


def test_delete_needs_no_generation(client: Api) -> None:
    given_a_consumer(client)
    assert client.delete(f"/allocations/{CONSUMER}").status == 204
    assert client.delete(f"/allocations/{CONSUMER}").status == 404


def test_the_provider_shows_the_generations_of_its_consumers(client: Api) -> None:
    given_a_consumer(client)
    shown = client.get(f"/resource_providers/{HOST}/allocations", "1.28").json
    assert shown["allocations"] == {CONSUMER: {"resources": {"VCPU": 5}, "consumer_generation": 1}}
    assert "consumer_generation" not in client.get(f"/allocations/{CONSUMER}", "1.27").json
