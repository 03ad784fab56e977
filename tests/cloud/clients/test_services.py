# SPDX-License-Identifier: Apache-2.0

"""How other services talk to Placement, with keystoneauth as nova and neutron set it up, and what they look for in an
answer."""

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
    """How keystoneauth said no."""

    status: int
    details: str
    error: dict[str, Any]

    @property
    def code(self) -> str | None:
        return self.error.get("code")


def adapter(keystone: Keystone, user: User, file: Path) -> Adapter:
    """An adapter from the section that an operator writes into nova.conf."""
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
    """A provider with 8 processors, as nova's report client makes one."""
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
    said = caught.value
    assert said.response is not None
    (error,) = said.response.json()["errors"]
    return Refused(said.http_status, str(said.details), error)


def test_an_adapter_finds_the_service_and_its_versions(nova: Adapter, plimsoll: Plimsoll) -> None:
    found = nova.get_endpoint_data()
    assert found is not None
    assert str(found.url).rstrip("/") == plimsoll.url
    assert (found.min_microversion, found.max_microversion) == ((1, 0), (1, 39))
    (version,) = nova.get("/").json()["versions"]
    assert (version["status"], version["links"]) == ("CURRENT", [{"rel": "self", "href": ""}])


def test_the_request_of_another_service_is_in_the_log(nova: Adapter, plimsoll: Plimsoll, host: str) -> None:
    answer = nova.get(f"/resource_providers/{host}", microversion="1.39", global_request_id=GLOBAL_REQUEST)
    own = answer.headers["x-openstack-request-id"]
    assert own != GLOBAL_REQUEST
    deadline = time.monotonic() + 30
    while not (lines := [line for line in plimsoll.log().splitlines() if own in line]):
        assert time.monotonic() < deadline, plimsoll.log()[-2000:]  # another thread writes the log
        time.sleep(0.05)
    assert all(GLOBAL_REQUEST in line for line in lines), lines


def test_nova_tells_a_taken_name_from_a_taken_uuid(nova: Adapter, host: str) -> None:
    def make(name: str, uuid: str) -> None:
        nova.post("/resource_providers", json={"name": name, "uuid": uuid}, microversion="1.20")

    taken_name = refused(make, f"host-{host}", str(uuid.uuid4()))
    taken_uuid = refused(make, "another", host)
    assert (taken_name.status, taken_uuid.status) == (409, 409)
    assert "Conflicting resource provider name:" in taken_name.details
    assert "Conflicting resource provider name:" not in taken_uuid.details


def test_nova_tries_again_after_a_stale_generation(nova: Adapter, host: str) -> None:
    stale = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 4}}}
    said = refused(nova.put, f"/resource_providers/{host}/inventories", json=stale, microversion="1.26")
    assert (said.status, said.code) == (409, "placement.concurrent_update")
    server = f"/allocations/{uuid.uuid4()}"
    nova.put(server, json=claim(host), microversion="1.38")
    said = refused(nova.put, server, json=claim(host), microversion="1.38")
    assert (said.status, said.code) == (409, "placement.concurrent_update")
    assert "consumer generation conflict" in said.details


def test_nova_sees_that_an_inventory_is_in_use(nova: Adapter, host: str) -> None:
    nova.put(f"/allocations/{uuid.uuid4()}", json=claim(host), microversion="1.38")
    now = nova.get(f"/resource_providers/{host}", microversion="1.14").json()["generation"]
    nothing = {"resource_provider_generation": now, "inventories": {}}
    said = refused(nova.put, f"/resource_providers/{host}/inventories", json=nothing, microversion="1.26")
    assert (said.status, said.code) == (409, "placement.inventory.inuse")


def test_a_claim_that_does_not_fit_is_a_conflict_and_no_race(nova: Adapter, host: str) -> None:
    said = refused(nova.put, f"/allocations/{uuid.uuid4()}", json=claim(host, 9), microversion="1.38")
    assert (said.status, said.code) == (409, "placement.undefined_code")
    assert "Unable to allocate inventory" in said.details


def test_what_is_held_can_be_sent_back_as_it_came(nova: Adapter, host: str) -> None:
    server = f"/allocations/{uuid.uuid4()}"
    nova.put(server, json=claim(host, 2), microversion="1.38")
    held = nova.get(server, microversion="1.38").json()
    assert "generation" in held["allocations"][host]
    held["allocations"][host]["resources"]["VCPU"] = 3
    assert nova.put(server, json=held, microversion="1.38").status_code == 204
    now = nova.get(server, microversion="1.38").json()
    assert now["allocations"][host]["resources"] == {"VCPU": 3}
    assert now["consumer_generation"] == held["consumer_generation"] + 1


def test_neutron_tells_what_is_not_there(nova: Adapter, host: str) -> None:
    nobody = uuid.uuid4()
    said = refused(nova.get, f"/resource_providers/{nobody}/inventories/VCPU", microversion="1.20")
    assert said.status == 404
    assert "No resource provider with uuid" in said.details
    said = refused(nova.get, f"/resource_providers/{host}/inventories/DISK_GB", microversion="1.20")
    assert said.status == 404
    assert "No inventory of class" in said.details
    body = {"resource_provider_generation": 1, "total": 5}
    said = refused(
        nova.put, f"/resource_providers/{host}/inventories/DISK_GB", json=body, microversion="1.20"
    )
    assert said.status == 400


def test_neutron_makes_traits_and_classes_without_a_body(nova: Adapter) -> None:
    """The header names the version, and there is neither a body nor a type of it."""
    headers = {"OpenStack-API-Version": "placement 1.20"}
    for _ in "made", "there already":
        assert nova.put("/traits/CUSTOM_PHYSNET_A", headers=headers).status_code in (201, 204)
        assert nova.put("/resource_classes/CUSTOM_NET_KBPS", headers=headers).status_code in (201, 204)
    assert nova.put("/traits/CUSTOM_PHYSNET_A", json={}, headers=headers).status_code == 204
    assert nova.delete("/traits/CUSTOM_PHYSNET_A", headers=headers).status_code == 204
    assert nova.delete("/resource_classes/CUSTOM_NET_KBPS", headers=headers).status_code == 204


def test_an_aggregate_is_spelled_as_it_came(nova: Adapter, host: str) -> None:
    bare = uuid.uuid4().hex
    body = {"aggregates": [bare], "resource_provider_generation": 1}
    nova.put(f"/resource_providers/{host}/aggregates", json=body, microversion="1.19")
    shown = nova.get(f"/resource_providers/{host}/aggregates", microversion="1.19").json()
    assert shown["aggregates"] == [bare]


def test_a_request_without_a_version_is_of_the_first(nova: Adapter, host: str) -> None:
    answer = nova.get(f"/resource_providers/{host}", headers={"accept": "*/*"})
    assert answer.headers["openstack-api-version"] == "placement 1.0"
    assert answer.headers["content-type"] == "application/json"
    assert "root_provider_uuid" not in answer.json()


def test_a_version_of_tomorrow_is_not_acceptable_and_the_newest_is_named(nova: Adapter) -> None:
    said = refused(nova.get, "/resource_providers", microversion="1.99")
    assert said.status == 406
    assert said.error["max_version"] == "1.39"


def test_a_service_may_reshape_and_an_administrator_may_not(
    keystone: Keystone, nova: Adapter, host: str, tmp_path: Path
) -> None:
    inventories = {"resource_provider_generation": 1, "inventories": {"VCPU": {"total": 4}}}
    body = {"inventories": {host: inventories}, "allocations": {}}
    administrator = adapter(keystone, ADMIN, tmp_path / "nova.conf")
    try:
        said = refused(administrator.post, "/reshaper", json=body, microversion="1.34")
    finally:
        administrator.session.session.close()
    assert said.status == 403
    assert nova.post("/reshaper", json=body, microversion="1.34").status_code == 204


def test_one_connection_serves_them_all(nova: Adapter, plimsoll: Plimsoll, host: str) -> None:
    """A refusal, a body that nobody wanted and an empty answer leave the connection as it was."""
    manager: Any = nova.session.session.get_adapter(plimsoll.url)
    pools = manager.poolmanager.pools

    def ends() -> list[Any]:
        """The addresses that our connections to the service have on this side."""
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
