# SPDX-License-Identifier: Apache-2.0

"""The consumers on some providers are read with everything that they hold, on each engine."""

from __future__ import annotations

import pytest

from plimsoll.domain.consumer import Allocation, Holding
from plimsoll.storage import consumers_on as module
from plimsoll.storage.consumers_on import consumers_on
from tests.support.api import Api

ONE, TWO, THREE = (f"10000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))
FIRST, SECOND, OTHER = (f"c0000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3))


@pytest.fixture
def cloud(client: Api) -> Api:
    for uuid in (ONE, TWO, THREE):
        client.host(uuid, VCPU=8, DISK_GB=100)
    claim(client, FIRST, {ONE: {"VCPU": 1, "DISK_GB": 5}, THREE: {"VCPU": 2}}, "INSTANCE")
    claim(client, SECOND, {TWO: {"VCPU": 3}}, "MIGRATION")
    claim(client, OTHER, {THREE: {"VCPU": 4}}, "INSTANCE")
    return client


def claim(client: Api, consumer: str, amounts: dict[str, dict[str, int]], consumer_type: str) -> None:
    body = {
        "allocations": {uuid: {"resources": resources} for uuid, resources in amounts.items()},
        "project_id": f"project of {consumer_type}",
        "user_id": "ada",
        "consumer_generation": None,
        "consumer_type": consumer_type,
    }
    assert client.put(f"/allocations/{consumer}", body).status == 204


def read(client: Api, *providers: str) -> list[Holding] | None:
    return consumers_on(client.database, providers, client.database.semantics())


def test_a_consumer_is_read_once_with_all_that_it_holds(cloud: Api) -> None:
    found = read(cloud, ONE, TWO)
    assert found is not None
    assert [each.consumer and each.consumer.uuid for each in found] == [FIRST, SECOND]
    assert set(found[0].allocations) == {
        Allocation(ONE, "VCPU", 1),
        Allocation(ONE, "DISK_GB", 5),
        Allocation(THREE, "VCPU", 2),
    }
    owner = found[1].consumer
    assert owner is not None
    assert (owner.project, owner.user, owner.type) == ("project of MIGRATION", "ada", "MIGRATION")
    assert found[1].orphans == ()


def test_a_provider_without_allocations_has_no_consumers(client: Api) -> None:
    client.host(ONE, VCPU=8)
    assert read(client, ONE) == []


def test_too_many_allocations_are_not_read(cloud: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ALLOCATIONS", 1)
    assert read(cloud, ONE) is None
    assert read(cloud, TWO) is not None


def test_the_query_has_the_bound() -> None:
    assert module._CONSUMERS_SQL.rstrip().endswith(f"LIMIT {module.MAX_ALLOCATIONS + 1}")
