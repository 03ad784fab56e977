# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches when the database server was killed: the service recovers, and records again."""

from __future__ import annotations

from pathlib import Path

from tests.faults.private_server import PrivateServer
from tests.faults.services import DatabaseService, HttpClient, assert_unavailable
from tests.support.waiting import eventually

UNPLACED = "/plimsoll/v1/unplaced"


def search(client: HttpClient, amount: int) -> None:
    response = client.get(f"/allocation_candidates?resources=VCPU:{amount}")
    assert (response.status, response.json["allocation_requests"]) == (200, [])


def is_recorded(client: HttpClient, amount: int) -> bool:
    response = client.get(UNPLACED)
    return response.status == 200 and any(
        entry["query"] == f"resources=VCPU:{amount}" for entry in response.json["unplaced"]
    )


def test_searches_are_recorded_again_after_the_server_was_killed(
    private_server: PrivateServer, tmp_path: Path
) -> None:
    with private_server.database() as url, DatabaseService(tmp_path, url) as service:
        with service.http_client() as client:
            client.host(8)
            search(client, 100)
            assert eventually(lambda: is_recorded(client, 100))
            search(client, 101)
            private_server.server.kill()  # before or while the last search is recorded
            try:
                assert_unavailable(client.get("/allocation_candidates?resources=VCPU:102"))
            finally:
                private_server.server.start()
            assert eventually(lambda: client.get(UNPLACED).status == 200)
            search(client, 103)
            assert eventually(lambda: is_recorded(client, 103))
            assert is_recorded(client, 100)
            assert client.claim(client.host(8)).status == 204
        assert "Traceback" not in service.log()
