# SPDX-License-Identifier: Apache-2.0

"""A read returns the figures of an inventory as the database stores them; a write returns them as sent."""

from __future__ import annotations

import pytest

from tests.support.api import Api

HOST = "10000000-0000-0000-0000-000000000001"
INVENTORIES = f"/resource_providers/{HOST}/inventories"


@pytest.fixture
def host(client: Api) -> Api:
    client.host(HOST)
    return client


def replace_with(host: Api, figures: str) -> bytes:
    raw = f'{{"resource_provider_generation": 1, "inventories": {{"VCPU": {figures}}}}}'
    response = host.call("PUT", INVENTORIES, raw=raw.encode())
    assert response.status == 200, response.body
    return response.body


def test_a_ratio_of_minus_zero_reads_back_as_zero(host: Api) -> None:
    replace_with(host, '{"total": 8, "allocation_ratio": -0.0}')
    for path in (INVENTORIES, f"{INVENTORIES}/VCPU"):
        assert b'"allocation_ratio":0.0' in host.get(path).body


def test_whole_numbers_written_as_floats_read_back_as_whole_numbers(host: Api) -> None:
    replace_with(host, '{"total": 8.0, "reserved": 1e0, "max_unit": 5.0, "allocation_ratio": 2}')
    shown = host.get(INVENTORIES).body
    for figure in (b'"total":8,', b'"reserved":1,', b'"max_unit":5,', b'"allocation_ratio":2.0'):
        assert figure in shown


def test_a_write_returns_the_figures_as_the_client_wrote_them(host: Api) -> None:
    answered = replace_with(host, '{"total": 8.0, "allocation_ratio": 2}')
    assert b'"total":8.0' in answered
    assert b'"allocation_ratio":2}' in answered


def test_an_infinite_capacity_is_refused(host: Api) -> None:
    """A ratio has no minimum in the reference's schema, and the capacity has none either."""
    figures = {"total": 1, "reserved": 2147483647, "allocation_ratio": -1.4e308}
    one = {"resource_provider_generation": 1, **figures}
    several = {"resource_provider_generation": 1, "inventories": {"VCPU": figures}}
    before = host.state()
    for response in (
        host.post(INVENTORIES, {"resource_class": "VCPU", **figures}),
        host.put(INVENTORIES, several),
        host.put(f"{INVENTORIES}/VCPU", one),
        host.post("/reshaper", {"inventories": {HOST: several}, "allocations": {}}),
    ):
        assert response.status == 400
        assert "is not a finite number" in response.detail
    assert host.state() == before
    missing = INVENTORIES.replace(HOST, "10000000-0000-0000-0000-00000000dead")
    assert host.put(missing, several).status == 404
