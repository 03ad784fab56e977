# SPDX-License-Identifier: Apache-2.0

"""Consumer types (seed 000): written with allocations, shown with them, and usages grouped by them."""

from typing import Any

import pytest

from tests.support.api import Api, Response

HOST = "10000000-0000-0000-0000-000000000001"


@pytest.fixture(autouse=True)
def _a_host(client: Api) -> None:
    client.host(HOST, VCPU=100, DISK_GB=100)


def consumer(number: int) -> str:
    return f"c0000000-0000-0000-0000-00000000000{number}"


def body(type_: str | None, generation: int | None = None, **resources: int) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "allocations": {HOST: {"resources": resources}} if resources else {},
        "project_id": "red",
        "user_id": "ann",
        "consumer_generation": generation,
    }
    return sent if type_ is None else {**sent, "consumer_type": type_}


def claim(
    client: Api, number: int, type_: str | None, generation: int | None = None, **resources: int
) -> Response:
    """Claim resources; without a type, as a client of a version before types."""
    version = "1.37" if type_ is None else "1.38"
    return client.put(f"/allocations/{consumer(number)}", body(type_, generation, **resources), version)


def usages(client: Api, query: str = "", version: str = "1.38") -> Any:
    return client.get(f"/usages?project_id=red{query}", version).json["usages"]


def test_a_type_is_required_and_shown(client: Api) -> None:
    assert client.put(f"/allocations/{consumer(1)}", body(None, VCPU=1), "1.38").status == 400
    assert client.put(f"/allocations/{consumer(1)}", body("INSTANCE", VCPU=1), "1.37").status == 400
    assert claim(client, 1, "INSTANCE", VCPU=1).status == 204
    assert client.get(f"/allocations/{consumer(1)}", "1.38").json["consumer_type"] == "INSTANCE"
    assert "consumer_type" not in client.get(f"/allocations/{consumer(1)}", "1.37").json


@pytest.mark.parametrize("name", ["instance", "IN-STANCE", "", "X" * 256, "all", "unknown"])
def test_a_type_is_made_of_capitals_digits_and_underscores(client: Api, name: str) -> None:
    assert claim(client, 1, name, VCPU=1).status == 400


def test_several_consumers_have_types_of_their_own(client: Api) -> None:
    sent = {consumer(1): body("INSTANCE", VCPU=1), consumer(2): body("MIGRATION", VCPU=2)}
    assert client.post("/allocations", sent, "1.38").status == 204
    assert usages(client) == {
        "INSTANCE": {"consumer_count": 1, "VCPU": 1},
        "MIGRATION": {"consumer_count": 1, "VCPU": 2},
    }


def test_usages_are_grouped_by_type(client: Api) -> None:
    claim(client, 1, "INSTANCE", VCPU=1, DISK_GB=10)
    claim(client, 2, "INSTANCE", VCPU=2)
    claim(client, 3, "MIGRATION", DISK_GB=5)
    claim(client, 4, None, VCPU=8)
    instances = {"consumer_count": 2, "VCPU": 3, "DISK_GB": 10}
    assert usages(client) == {
        "INSTANCE": instances,
        "MIGRATION": {"consumer_count": 1, "DISK_GB": 5},
        "unknown": {"consumer_count": 1, "VCPU": 8},
    }
    assert usages(client, "&consumer_type=INSTANCE") == {"INSTANCE": instances}
    assert usages(client, "&consumer_type=all") == {"all": {"consumer_count": 4, "VCPU": 11, "DISK_GB": 15}}
    assert usages(client, "&consumer_type=unknown") == {"unknown": {"consumer_count": 1, "VCPU": 8}}
    assert usages(client, "&consumer_type=NOBODY") == {}
    assert usages(client, "&user_id=bob") == {}
    assert usages(client, version="1.37") == {"VCPU": 11, "DISK_GB": 15}


def test_a_consumer_without_a_type_gets_one_and_can_change_it(client: Api) -> None:
    claim(client, 1, None, VCPU=1)
    assert client.get(f"/allocations/{consumer(1)}", "1.38").json["consumer_type"] == "unknown"
    assert claim(client, 1, "INSTANCE", 1, VCPU=1).status == 204
    assert claim(client, 1, "MIGRATION", 2, VCPU=1).status == 204
    assert usages(client) == {"MIGRATION": {"consumer_count": 1, "VCPU": 1}}


def test_an_older_client_leaves_the_type_as_it_is(client: Api) -> None:
    claim(client, 1, "INSTANCE", VCPU=1)
    assert claim(client, 1, None, 1, VCPU=2).status == 204
    assert usages(client) == {"INSTANCE": {"consumer_count": 1, "VCPU": 2}}


def test_a_refused_claim_does_not_change_the_type(client: Api) -> None:
    claim(client, 1, "INSTANCE", VCPU=1)
    assert claim(client, 1, "MIGRATION", 1, VCPU=1000).status == 409
    assert usages(client) == {"INSTANCE": {"consumer_count": 1, "VCPU": 1}}


def test_a_reshape_requires_a_type_too(client: Api) -> None:
    claim(client, 1, "INSTANCE", VCPU=1)
    generation = client.get(f"/resource_providers/{HOST}").json["generation"]
    sent = {
        "inventories": {
            HOST: {"resource_provider_generation": generation, "inventories": {"VCPU": {"total": 5}}}
        },
        "allocations": {consumer(1): body(None, 1, VCPU=2)},
    }
    assert client.post("/reshaper", sent, "1.38").status == 400
    sent["allocations"] = {consumer(1): body("RESHAPED", 1, VCPU=2)}
    assert client.post("/reshaper", sent, "1.38").status == 204
    assert usages(client) == {"RESHAPED": {"consumer_count": 1, "VCPU": 2}}
