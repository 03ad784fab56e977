# SPDX-License-Identifier: Apache-2.0

"""Requests in one worker thread: a long request does not block others, and concurrent writes share a commit."""

import contextlib
import http.client
import json
import os
import select
import signal
import sqlite3
from pathlib import Path
from uuid import uuid4

from plimsoll.search.find import MAX_ENTRIES
from tests.support.running import Client, Service

HOSTS, DEVICES = 3, 8
LONG_SEARCH = "/allocation_candidates?group_policy=isolate&" + "&".join(
    f"resources_{number}=CUSTOM_DEVICE:1" for number in range(DEVICES)
)


def make_hosts_with_devices(client: Client) -> None:
    client.call("PUT", "/resource_classes/CUSTOM_DEVICE")
    for host in [str(uuid4()) for _ in range(HOSTS)]:
        client.call("POST", "/resource_providers", {"name": host, "uuid": host})
        for device in [str(uuid4()) for _ in range(DEVICES)]:
            body = {"name": device, "uuid": device, "parent_provider_uuid": host}
            assert client.call("POST", "/resource_providers", body)[0] == 200
            inventory = {"resource_provider_generation": 0, "inventories": {"CUSTOM_DEVICE": {"total": 1}}}
            assert client.call("PUT", f"/resource_providers/{device}/inventories", inventory)[0] == 200


def test_other_requests_are_served_during_a_long_search(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        make_hosts_with_devices(service.client())
        searching = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        searching.request("GET", LONG_SEARCH, headers=headers)
        others, client = 0, service.client()
        while not select.select([searching.sock], [], [], 0)[0]:
            assert client.call("GET", "/resource_providers?name=nobody")[0] == 200
            others += 1
        found = json.load(searching.getresponse())
        searching.close()
        assert len(found["allocation_requests"]) == MAX_ENTRIES // DEVICES < HOSTS * 40_320
        assert others > 3, "no other request was served meanwhile"


def test_other_requests_are_served_while_thousands_of_claims_are_written(tmp_path: Path) -> None:
    """One request that occupies the worker for some hundred milliseconds without waiting for I/O."""
    host, count = str(uuid4()), 10_000
    claims = {
        str(uuid4()): {
            "allocations": {host: {"resources": {"VCPU": 1}}},
            "project_id": f"project-{number}",
            "user_id": "user",
            "consumer_type": "INSTANCE",
            "consumer_generation": None,
        }
        for number in range(count)
    }
    with Service(tmp_path) as service:
        client = service.client()
        client.call("POST", "/resource_providers", {"name": host, "uuid": host})
        inventory = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": count}}}
        assert client.call("PUT", f"/resource_providers/{host}/inventories", inventory)[0] == 200
        claiming = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        body = json.dumps(claims)
        claiming.request("POST", "/allocations", body, headers | {"content-type": "application/json"})
        others = 0
        while not select.select([claiming.sock], [], [], 0)[0]:
            assert client.call("GET", f"/resource_providers/{host}")[0] == 200
            others += 1
        assert claiming.getresponse().status == 204
        claiming.close()
        usages = client.call("GET", f"/resource_providers/{host}/usages")[1]["usages"]
        assert usages == {"VCPU": count}
    assert others > 50, "other clients waited until it ended"


def test_concurrent_writes_share_a_commit(tmp_path: Path) -> None:
    """On SQLite no write waits before its commit, so without an explicit yield each would commit alone."""
    hosts = [str(uuid4()) for _ in range(8)]
    headers = {"x-auth-token": "admin", "content-type": "application/json"}
    with Service(tmp_path) as service, contextlib.ExitStack() as open_connections:
        connections = [http.client.HTTPConnection("127.0.0.1", service.port, timeout=60) for _ in hosts]
        for connection in connections:
            open_connections.callback(connection.close)
            connection.request("GET", "/", headers=headers)
            connection.getresponse().read()
        (worker,) = service.worker_pids()
        os.kill(worker, signal.SIGSTOP)
        for host, connection in zip(hosts, connections, strict=True):
            body = json.dumps({"name": host, "uuid": host})
            connection.request("POST", "/resource_providers", body, headers)
        os.kill(worker, signal.SIGCONT)
        for connection in connections:
            assert connection.getresponse().status == 201
        with contextlib.closing(sqlite3.connect(next(tmp_path.glob("*.sqlite")))) as database:
            (commits,) = database.execute(
                "SELECT COUNT(DISTINCT mark) FROM plimsoll_changes WHERE operation = 'provider.create'"
            ).fetchone()
    assert commits <= len(hosts) // 2
