# SPDX-License-Identifier: Apache-2.0

"""Checks of a service that must pass under every server: reads and writes in all processes, under both paths."""

from __future__ import annotations

import http.client
import itertools
import threading
from typing import Any
from uuid import uuid4

from tests.deploy.deployed import Deployed
from tests.support.running import Client

CLIENTS = 8
CAPACITY = 60


def create_host(service: Deployed, capacity: int = CAPACITY) -> str:
    host = str(uuid4())
    assert service.call("POST", "/resource_providers", {"uuid": host, "name": host})[0] == 200
    body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": capacity}}}
    assert service.call("PUT", f"/resource_providers/{host}/inventories", body)[0] == 200
    return host


def claim(client: Client, host: str) -> int:
    body = {
        "allocations": {host: {"resources": {"VCPU": 1}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    return client.call("PUT", f"/allocations/{uuid4()}", body)[0]


def used_amount(service: Deployed, host: str) -> int:
    status, body = service.call("GET", f"/resource_providers/{host}/usages")
    assert status == 200, body
    usages: dict[str, int] = body["usages"]
    return usages["VCPU"]


def claim_all(service: Deployed, host: str) -> list[int]:
    """Claim with several clients on persistent connections until claims are refused. Return the statuses."""
    statuses: list[int] = []

    def run() -> None:
        with service.client() as client:
            while not statuses or 204 in statuses[-CLIENTS:]:
                statuses.append(claim(client, host))

    run_concurrently(run)
    return statuses


def claim_until_stopped(service: Deployed, host: str, enough: int) -> tuple[int, bool]:
    """Claim with several clients while the service stops. Return the number of claims, and True if it exited with 0."""
    granted = itertools.count()
    enough_granted, stopped = threading.Event(), []

    def run() -> None:
        with service.client() as client:
            while True:
                try:
                    assert claim(client, host) == 204
                except (OSError, http.client.HTTPException):  # the service has stopped
                    return
                if next(granted) == enough:
                    enough_granted.set()

    def stop() -> None:
        assert enough_granted.wait(60)
        stopped.append(service.stop())

    stopper = threading.Thread(target=stop)
    stopper.start()
    run_concurrently(run)
    stopper.join()
    return next(granted), stopped == [0]


def run_concurrently(run: Any) -> None:
    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def reads_and_writes(service: Deployed) -> str:
    """Fill a host with claims through all processes, and check that every process sees all. Return the host."""
    host = create_host(service)
    statuses = claim_all(service, host)
    assert statuses.count(204) == CAPACITY, statuses
    assert set(statuses) == {204, 409}, statuses
    for _ in range(3 * CLIENTS):  # each on a new connection, so that every process gets some
        assert used_amount(service, host) == CAPACITY
    assert service.call("GET", "/allocation_candidates?resources=VCPU:1")[1]["allocation_requests"] == []
    return host


def http_edge_cases(service: Deployed) -> None:
    """Check cases that servers get wrong: empty bodies, unexpected bodies, long URLs."""
    with service.client() as client:
        assert client.call("PUT", "/traits/CUSTOM_DEPLOYED", version="1.6")[0] == 201
        assert client.call("PUT", "/traits/CUSTOM_DEPLOYED", {}, version="1.6")[0] == 204
        assert client.call("DELETE", "/traits/CUSTOM_DEPLOYED", version="1.6")[0] == 204
        aggregates = ",".join(str(uuid4()) for _ in range(400))
        status, found = client.call("GET", f"/resource_providers?member_of=in:{aggregates}")
        assert (status, found) == (200, {"resource_providers": []})
        status, refused = client.call("GET", "/resource_providers?resources=VCPU:0")
        assert status == 400
        assert refused["errors"][0]["request_id"].startswith("req-")


def under_a_prefix(service: Deployed, prefix: str = "/placement") -> None:
    """Check that the service responds under the prefix too, and that links then have the prefix."""
    with service.client() as client:
        for root in (prefix, f"{prefix}/"):
            assert client.call("GET", root)[1]["versions"][0]["id"] == "v1.0"
        name = f"{prefix.strip('/')}-{uuid4()}"
        status, created = client.call("POST", f"{prefix}/resource_providers", {"name": name})
        assert status == 200
        assert created["links"][0]["href"] == f"{prefix}/resource_providers/{created['uuid']}"
        status, same = client.call("GET", f"/resource_providers/{created['uuid']}")
        assert status == 200
        assert same["links"][0]["href"] == f"/resource_providers/{created['uuid']}"
