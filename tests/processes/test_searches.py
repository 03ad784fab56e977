# SPDX-License-Identifier: Apache-2.0

"""Searches that would never end, and responses that would fill the memory, in a real worker."""

from __future__ import annotations

import http.client
import select
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.running import Service
from tests.support.waiting import eventually

DEVICES = 32
ADMIN = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
MEGABYTE = 1024


def uuid(number: int) -> str:
    return f"10000000-0000-0000-0000-{number:012}"


def groups(amounts: list[int], policy: str, limit: int | None = None) -> str:
    listed = "&".join(f"resources{number}=PGPU:{amount}" for number, amount in enumerate(amounts, start=1))
    return f"/allocation_candidates?{listed}&group_policy={policy}" + (f"&limit={limit}" if limit else "")


NEVER_ENDS = groups([*[4] * 10, *[3] * 16], "none", limit=1) + f"&in_tree1={uuid(100)}"
"""Requests 88 of the 90 units of ten devices, in parts that do not fit."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path) as service:
        client = service.client()

        def make(number: int, total: int, parent: int | None) -> None:
            body = {"name": uuid(number), "uuid": uuid(number)}
            if parent is not None:
                body["parent_provider_uuid"] = uuid(parent)
            assert client.call("POST", "/resource_providers", body)[0] == 200
            inventory = {"resource_provider_generation": 0, "inventories": {"PGPU": {"total": total}}}
            assert client.call("PUT", f"/resource_providers/{uuid(number)}/inventories", inventory)[0] == 200

        for root, devices, total in ((0, DEVICES, 8), (100, 10, 9)):
            assert (
                client.call("POST", "/resource_providers", {"name": uuid(root), "uuid": uuid(root)})[0] == 200
            )
            for number in range(devices):
                make(root + 1 + number, total, root)
        yield service


def send_request(service: Service, path: str) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
    connection.request("GET", path, headers=ADMIN)
    return connection


def memory(service: Service, field: str) -> int:
    """Return kilobytes: VmRSS is the current memory, VmHWM the maximum so far."""
    (worker,) = service.worker_pids()
    lines = Path(f"/proc/{worker}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])


def test_sixteen_endless_searches_do_not_block_other_requests_and_end_when_their_clients_close(
    service: Service,
) -> None:
    before = memory(service, "VmRSS")
    endless = [send_request(service, NEVER_ENDS) for _ in range(16)]
    client = service.client()
    for _ in range(100):
        assert client.call("GET", "/")[0] == 200
        assert client.call("GET", f"/resource_providers/{uuid(1)}")[0] == 200
    assert not select.select([each.sock for each in endless], [], [], 0)[0], "the searches are still running"
    for each in endless:
        each.close()
    assert eventually(
        lambda: service.log().count("The client closed its connection; the search was ended") == 16
    )
    assert memory(service, "VmHWM") - before < 100 * MEGABYTE


def test_a_response_with_very_many_candidates_takes_bounded_memory(service: Service) -> None:
    before = memory(service, "VmRSS")
    with closing(send_request(service, groups([1] * 4, "isolate"))) as connection:
        body = connection.getresponse().read()
    assert body.count(b'"mappings"') == 100_000, "of 863,040 and more"
    del body
    assert memory(service, "VmHWM") - before < 100 * MEGABYTE
    assert eventually(lambda: memory(service, "VmRSS") - before < 50 * MEGABYTE)
