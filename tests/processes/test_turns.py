# SPDX-License-Identifier: Apache-2.0

"""One who asks for much does not keep the others waiting, though all of them share one thread."""

import http.client
import json
import select
from pathlib import Path
from uuid import uuid4

from tests.support.running import Client, Service

HOSTS, DEVICES = 3, 8
PUZZLE = "/allocation_candidates?group_policy=isolate&" + "&".join(
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


def test_others_are_answered_while_one_has_a_puzzle(tmp_path: Path) -> None:
    with Service(tmp_path) as service:
        make_hosts_with_devices(service.client())
        puzzled = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        puzzled.request("GET", PUZZLE, headers=headers)
        others, client = 0, service.client()
        while not select.select([puzzled.sock], [], [], 0)[0]:
            assert client.call("GET", "/resource_providers?name=nobody")[0] == 200
            others += 1
        found = json.load(puzzled.getresponse())
        puzzled.close()
        assert len(found["allocation_requests"]) == HOSTS * 40_320
        assert others > 3, "nobody else was answered meanwhile"
