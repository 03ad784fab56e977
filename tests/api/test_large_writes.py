# SPDX-License-Identifier: Apache-2.0

"""Requests with thousands of consumers, owners or aggregates are written within the limits of each database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from tests.support.api import Api, api
from tests.support.databases import need
from tests.support.servers import MariaDB

HOST = "00000000-0000-0000-0000-00000000000a"
MANY = 6_000
MOST_PARAMETERS_OF_POSTGRESQL = 65_535
FACES = "\N{GRINNING FACE}" * 200


def uuids(count: int) -> list[str]:
    return [str(UUID(int=number)) for number in range(1, count + 1)]


def claims(count: int, generation: int | None, owners: int = 1, owner: str = "") -> dict[str, Any]:
    """Return claims of `count` consumers."""
    return {
        uuid: {
            "allocations": {HOST: {"resources": {"VCPU": 1}}},
            "project_id": f"project {number % owners} {owner}",
            "user_id": f"user {number % owners} {owner}",
            "consumer_generation": generation,
            "consumer_type": "INSTANCE",
        }
        for number, uuid in enumerate(uuids(count))
    }


def used(client: Api) -> int:
    usages: dict[str, int] = client.get(f"/resource_providers/{HOST}/usages").json["usages"]
    return usages.get("VCPU", 0)


def test_more_consumers_than_a_statement_has_parameters(client: Api) -> None:
    client.host(HOST, VCPU=1_000_000)
    body = claims(MANY, generation=None)
    assert client.post("/allocations", body).status == 204
    assert used(client) == MANY
    assert client.post("/allocations", claims(MANY, generation=1)).status == 204
    cleared = {uuid: {**claim, "allocations": {}, "consumer_generation": 2} for uuid, claim in body.items()}
    assert client.post("/allocations", cleared).status == 204
    assert used(client) == 0


def test_more_new_owners_than_a_statement_has_parameters(client: Api) -> None:
    client.host(HOST, VCPU=1_000_000)
    assert client.post("/allocations", claims(MANY, generation=None, owners=MANY)).status == 204
    assert used(client) == MANY


def test_more_aggregates_than_a_statement_has_parameters(client: Api) -> None:
    client.host(HOST, VCPU=1)
    for generation, count in ((1, MOST_PARAMETERS_OF_POSTGRESQL + 1), (2, 3), (3, 0)):
        body = {"resource_provider_generation": generation, "aggregates": uuids(count)}
        assert client.put(f"/resource_providers/{HOST}/aggregates", body).status == 200
        listed = client.get(f"/resource_providers/{HOST}/aggregates").json["aggregates"]
        assert sorted(listed) == uuids(count)


@contextmanager
def on_mariadb(longest_packet: int) -> Iterator[Api]:
    """The API on a MariaDB with this max_allowed_packet."""
    need(MariaDB)
    with MariaDB(durable=False, settings={"max-allowed-packet": str(longest_packet)}) as server:
        server.create_database("placement")
        url = server.url("placement") + "?ssl_disabled=true"
        with api(url, plimsoll__max_body_bytes=64 << 20) as client:
            yield client


@pytest.mark.parametrize("longest_packet", [1 << 20, 16 << 20])
def test_a_body_that_is_longer_than_a_packet_of_mariadb_is_written(longest_packet: int) -> None:
    """Owners have four bytes per character: the limit is in bytes."""
    with on_mariadb(longest_packet) as client:
        client.host(HOST, VCPU=1_000_000)
        body = claims(MANY, generation=None, owners=MANY, owner=FACES)
        assert client.post("/allocations", body).status == 204
        assert used(client) == MANY
        assert client.post("/allocations", claims(MANY, 1, owners=MANY, owner=FACES)).status == 204


def test_a_statement_longer_than_a_packet_of_mariadb_is_refused_with_the_limit() -> None:
    with on_mariadb(1 << 20) as client:
        client.host(HOST, VCPU=1)
        before = client.state()
        body = {"resource_provider_generation": 1, "aggregates": uuids(30_000)}
        response = client.put(f"/resource_providers/{HOST}/aggregates", body)
        assert response.status == 413
        assert "(max_allowed_packet). It takes 1,170," in response.detail
        assert "the limit is 1,048,320." in response.detail
        assert "Nothing was changed." in response.detail
        assert client.state() == before
        assert client.get(f"/resource_providers/{HOST}/aggregates").json["aggregates"] == []
