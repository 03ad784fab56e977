# SPDX-License-Identifier: Apache-2.0

"""What a service must do under whichever server: read and write, everywhere at once, under both of its paths."""

from __future__ import annotations

import http.client
import itertools
import threading
from typing import Any
from uuid import uuid4

from tests.deploy.deployed import Deployed
from tests.support.running import Client

CLIENTS = 8
ROOM = 60


def a_host(service: Deployed, room: int = ROOM) -> str:
    host = str(uuid4())
    assert service.call("POST", "/resource_providers", {"uuid": host, "name": host})[0] == 200
    body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": room}}}
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


def used(service: Deployed, host: str) -> int:
    status, answer = service.call("GET", f"/resource_providers/{host}/usages")
    assert status == 200, answer
    usages: dict[str, int] = answer["usages"]
    return usages["VCPU"]


def claim_all(service: Deployed, host: str) -> list[int]:
    """Several clients, each on connections that it keeps, claim until they are refused; what they were answered."""
    answers: list[int] = []

    def run() -> None:
        with service.client() as client:
            while not answers or 204 in answers[-CLIENTS:]:
                answers.append(claim(client, host))

    together(run)
    return answers


def claim_until_stopped(service: Deployed, host: str, enough: int) -> tuple[int, bool]:
    """Claims from several clients while the service is told to stop: how many were granted, and did it end well?"""
    granted = itertools.count()
    some, stopped = threading.Event(), []

    def run() -> None:
        with service.client() as client:
            while True:
                try:
                    assert claim(client, host) == 204
                except (OSError, http.client.HTTPException):  # it is gone
                    return
                if next(granted) == enough:
                    some.set()

    def stop() -> None:
        assert some.wait(60)
        stopped.append(service.stop())

    stopper = threading.Thread(target=stop)
    stopper.start()
    together(run)
    stopper.join()
    return next(granted), stopped == [0]


def together(run: Any) -> None:
    threads = [threading.Thread(target=run) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def reads_and_writes(service: Deployed) -> str:
    """Claims meet in all processes, and each of them sees all; returns the host that is full then."""
    host = a_host(service)
    answers = claim_all(service, host)
    assert answers.count(204) == ROOM, answers
    assert set(answers) == {204, 409}, answers
    for _ in range(3 * CLIENTS):  # on a new connection each, so that every process is asked
        assert used(service, host) == ROOM
    assert service.call("GET", "/allocation_candidates?resources=VCPU:1")[1]["allocation_requests"] == []
    return host


def small_print(service: Deployed) -> None:
    """What servers get wrong: bodies that are empty, or not wanted, or come in chunks, and long addresses."""
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
    """The same service answers under the prefix, and its addresses have it."""
    with service.client() as client:
        for root in (prefix, f"{prefix}/"):
            assert client.call("GET", root)[1]["versions"][0]["id"] == "v1.0"
        name = f"{prefix.strip('/')}-{uuid4()}"
        status, made = client.call("POST", f"{prefix}/resource_providers", {"name": name})
        assert status == 200
        assert made["links"][0]["href"] == f"{prefix}/resource_providers/{made['uuid']}"
        status, same = client.call("GET", f"/resource_providers/{made['uuid']}")
        assert status == 200
        assert same["links"][0]["href"] == f"/resource_providers/{made['uuid']}"
