# SPDX-License-Identifier: Apache-2.0

"""Requests of other services, with keystoneauth configured as in nova and neutron, and the parts of responses that they
use."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import exceptions, loading
from keystoneauth1.adapter import Adapter
from oslo_config import cfg

from tests.cloud.keystone import ADMIN, PASSWORD, REGION, Keystone, User
from tests.cloud.services import Plimsoll

GLOBAL_REQUEST = "req-0d2c8a44-0ad1-4b0c-9f3a-7a52b7f6c1de"


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal, as keystoneauth reports it."""

    status: int
    details: str
    error: dict[str, Any]

    @property
    def code(self) -> str | None:
        return self.error.get("code")


def adapter(keystone: Keystone, user: User, file: Path) -> Adapter:
    """Return an adapter made from a section of nova.conf."""
    file.write_text(
        f"""[placement]
auth_type = password
auth_url = {keystone.url}
username = {user.name}
password = {PASSWORD}
project_name = {user.project}
user_domain_name = Default
project_domain_name = Default
region_name = {REGION}
service_type = placement
valid_interfaces = internal,public
"""
    )
    conf = cfg.ConfigOpts()
    loading.register_auth_conf_options(conf, "placement")
    loading.register_session_conf_options(conf, "placement")
    loading.register_adapter_conf_options(conf, "placement")
    conf(["--config-file", str(file)], project="nova", default_config_dirs=[])
    auth = loading.load_auth_from_conf_options(conf, "placement")
    session = loading.load_session_from_conf_options(conf, "placement", auth=auth)
    made = loading.load_adapter_from_conf_options(conf, "placement", session=session, auth=auth)
    made.additional_headers = {"accept": "application/json"}
    return made


@pytest.fixture(scope="module")
def nova(
    keystone: Keystone, plimsoll: Plimsoll, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Adapter]:
    user = keystone.user("nova", "service", "service")
    made = adapter(keystone, user, tmp_path_factory.mktemp("nova") / "nova.conf")
    yield made
    made.session.session.close()


@pytest.fixture
def host(nova: Adapter) -> str:
    """A provider with 8 processors, created as by nova's report client."""
    host = str(uuid.uuid4())
    made = nova.post(
        "/resource_providers",
        json={"uuid": host, "name": f"host-{host}", "parent_provider_uuid": None},
        microversion="1.20",
        global_request_id=GLOBAL_REQUEST,
    )
    inventories = {"VCPU": {"total": 8, "reserved": 0, "allocation_ratio": 1.0}}
    body = {"resource_provider_generation": made.json()["generation"], "inventories": inventories}
    nova.put(f"/resource_providers/{host}/inventories", json=body, microversion="1.26")
    return host


def claim(host: str, amount: int = 1, generation: int | None = None) -> dict[str, Any]:
    return {
        "allocations": {host: {"resources": {"VCPU": amount}}},
        "project_id": "engines",
        "user_id": "ada",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }


def refused(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Refused:
    with pytest.raises(exceptions.HttpError) as caught:
        call(*args, **kwargs)
    refusal = caught.value
    assert refusal.response is not None
    (error,) = refusal.response.json()["errors"]
    return Refused(refusal.http_status, str(refusal.details), error)


def test_an_adapter_finds_the_service_and_its_versions(nova: Adapter, plimsoll: Plimsoll) -> None:
    found = nova.get_endpoint_data()
    assert found is not None
    assert str(found.url).rstrip("/") == plimsoll.url
    assert (found.min_microversion, found.max_microversion) == ((1, 0), (1, 39))
    (version,) = nova.get("/").json()["versions"]
    assert (version["status"], version["links"]) == ("CURRENT", [{"rel": "self", "href": ""}])


def test_the_request_of_another_service_is_in_the_log(nova: Adapter, plimsoll: Plimsoll, host: str) -> None:
    response = nova.get(f"/resource_providers/{host}", microversion="1.39", global_request_id=GLOBAL_REQUEST)
    own = response.headers["x-openstack-request-id"]
    assert own != GLOBAL_REQUEST
    deadline = time.monotonic() + 30
    while not (lines := [line for line in plimsoll.log().splitlines() if own in line]):
        assert time.monotonic() < deadline, plimsoll.log()[-2000:]  # another thread writes the log
        time.sleep(0.05)
    assert all(GLOBAL_REQUEST in line for line in lines), lines


def test_nova_distinguishes_a_taken_name_from_a_taken_uuid(nova: Adapter, host: str) -> None:
    def make(name: str, uuid: str) -> None:
        nova.post("/resource_providers", json={"name": name, "uuid": uuid}, microversion="1.20")

    taken_name = refused(make, f"host-{host}", str(uuid.uuid4()))
    taken_uuid = refused(make, "another", host)
    assert (taken_name.status, taken_uuid.status) == (409, 409)
    assert "Conflicting resource provider name:" in taken_name.details
    assert "Conflicting resource provider name:" not in taken_uuid.details


def test_nova_retries_after_a_stale_generation(nova: Adapter, host: str) -> None:
    stale = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 4}}}
    refusal = refused(nova.put, f"/resource_providers/{host}/inventories", json=stale, microversion="1.26")
    assert (refusal.status, refusal.code) == (409, "placement.concurrent_update")
    server = f"/allocations/{uuid.uuid4()}"
    nova.put(server, json=claim(host), microversion="1.38")
    refusal = refused(nova.put, server, json=claim(host), microversion="1.38")
    assert (refusal.status, refusal.code) == (409, "placement.concurrent_update")
    assert "consumer generation conflict" in refusal.details


def test_nova_sees_that_an_inventory_is_in_use(nova: Adapter, host: str) -> None:
    nova.put(f"/allocations/{uuid.uuid4()}", json=claim(host), microversion="1.38")
    now = nova.get(f"/resource_providers/{host}", microversion="1.14").json()["generation"]
    nothing = {"resource_provider_generation": now, "inventories": {}}
    refusal = refused(nova.put, f"/resource_providers/{host}/inventories", json=nothing, microversion="1.26")
    assert (refusal.status, refusal.code) == (409, "placement.inventory.inuse")


def test_a_claim_that_does_not_fit_is_a_conflict_and_no_race(nova: Adapter, host: str) -> None:
    refusal = refused(nova.put, f"/allocations/{uuid.uuid4()}", json=claim(host, 9), microversion="1.38")
    assert (refusal.status, refusal.code) == (409, "placement.undefined_code")
    assert "Unable to allocate inventory" in refusal.details


def test_allocations_can_be_sent_back_unchanged(nova: Adapter, host: str) -> None:
    server = f"/allocations/{uuid.uuid4()}"
    nova.put(server, json=claim(host, 2), microversion="1.38")
    held = nova.get(server, microversion="1.38").json()
    assert "generation" in held["allocations"][host]
    held["allocations"][host]["resources"]["VCPU"] = 3
    assert nova.put(server, json=held, microversion="1.38").status_code == 204
    now = nova.get(server, microversion="1.38").json()
    assert now["allocations"][host]["resources"] == {"VCPU": 3}
    assert now["consumer_generation"] == held["consumer_generation"] + 1


def test_neutron_recognises_missing_resources(nova: Adapter, host: str) -> None:
    nobody = uuid.uuid4()
    refusal = refused(nova.get, f"/resource_providers/{nobody}/inventories/VCPU", microversion="1.20")
    assert refusal.status == 404
    assert "No resource provider with uuid" in refusal.details
    refusal = refused(nova.get, f"/resource_providers/{host}/inventories/DISK_GB", microversion="1.20")
    assert refusal.status == 404
    assert "No inventory of class" in refusal.details
    body = {"resource_provider_generation": 1, "total": 5}
    refusal = refused(
        nova.put, f"/resource_providers/{host}/inventories/DISK_GB", json=body, microversion="1.20"
    )
    assert refusal.status == 400


def test_neutron_creates_traits_and_classes_without_a_body(nova: Adapter) -> None:
    """The request has a version header, but neither a body nor a content type."""
    headers = {"OpenStack-API-Version": "placement 1.20"}
    for _ in "made", "there already":
        assert nova.put("/traits/CUSTOM_PHYSNET_A", headers=headers).status_code in (201, 204)
        assert nova.put("/resource_classes/CUSTOM_NET_KBPS", headers=headers).status_code in (201, 204)
    assert nova.put("/traits/CUSTOM_PHYSNET_A", json={}, headers=headers).status_code == 204
    assert nova.delete("/traits/CUSTOM_PHYSNET_A", headers=headers).status_code == 204
    assert nova.delete("/resource_classes/CUSTOM_NET_KBPS", headers=headers).status_code == 204


def test_the_spelling_of_an_aggregate_is_preserved(nova: Adapter, host: str) -> None:
    bare = uuid.uuid4().hex
    body = {"aggregates": [bare], "resource_provider_generation": 1}
    nova.put(f"/resource_providers/{host}/aggregates", json=body, microversion="1.19")
    shown = nova.get(f"/resource_providers/{host}/aggregates", microversion="1.19").json()
    assert shown["aggregates"] == [bare]


def test_a_request_without_a_version_has_the_first_one(nova: Adapter, host: str) -> None:
    response = nova.get(f"/resource_providers/{host}", headers={"accept": "*/*"})
    assert response.headers["openstack-api-version"] == "placement 1.0"
    assert response.headers["content-type"] == "application/json"
    assert "root_provider_uuid" not in response.json()


def test_a_future_version_is_not_acceptable_and_the_response_names_the_newest(nova: Adapter) -> None:
    refusal = refused(nova.get, "/resource_providers", microversion="1.99")
    assert refusal.status == 406
    assert refusal.error["max_version"] == "1.39"


def test_a_service_may_reshape_and_an_administrator_may_not(
    keystone: Keystone, nova: Adapter, host: str, tmp_path: Path
) -> None:
    inventories = {"resource_provider_generation": 1, "inventories": {"VCPU": {"total": 4}}}
    body = {"inventories": {host: inventories}, "allocations": {}}
    administrator = adapter(keystone, ADMIN, tmp_path / "nova.conf")
    try:
        refusal = refused(administrator.post, "/reshaper", json=body, microversion="1.34")
    finally:
        administrator.session.session.close()
    assert refusal.status == 403
    assert nova.post("/reshaper", json=body, microversion="1.34").status_code == 204


def test_one_connection_serves_all_requests(nova: Adapter, plimsoll: Plimsoll, host: str) -> None:
    """A refusal, an unexpected body and an empty response leave the connection open."""
    manager: Any = nova.session.session.get_adapter(plimsoll.url)
    pools = manager.poolmanager.pools

    def ends() -> list[Any]:
        """Return the local addresses of our connections to the service."""
        kept = [each for pool in map(pools.get, pools.keys()) for each in pool.pool.queue if each is not None]
        return [each.sock.getsockname() for each in kept if each.port == plimsoll.port]

    nova.get("/", microversion="1.39")
    before = ends()
    assert before
    refused(nova.post, "/resource_providers", json={"no": "name"}, microversion="1.20")
    nova.put("/traits/CUSTOM_KEPT", json={}, microversion="1.6")
    nova.delete("/traits/CUSTOM_KEPT", microversion="1.6")
    nova.get(f"/resource_providers/{host}", microversion="1.39")
    assert ends() == before
