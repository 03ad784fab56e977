# SPDX-License-Identifier: Apache-2.0

"""Unplaced searches under `plimsoll serve`: recorded by each worker, complete after a stop, harmless if they fail."""

import contextlib
import http.client
import json
import signal
from pathlib import Path
from typing import Any

from plimsoll.http.request_id import new_request_id
from tests.processes.test_many_workers import create_host
from tests.support.databases import Databases, run_sql
from tests.support.running import Service
from tests.support.waiting import eventually

SEARCHES = 20


def get(service: Service, path: str, request_id: str = "") -> Any:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)) as connection:
        headers = {"x-auth-token": "admin", "openstack-api-version": "placement 1.39"}
        connection.request("GET", path, headers=headers | {"x-openstack-request-id": request_id})
        response = connection.getresponse()
        assert response.status == 200
        return json.loads(response.read())


def search(service: Service, request_id: str = "", amount: int = 1_000_000) -> None:
    found = get(service, f"/allocation_candidates?resources=VCPU:{amount}", request_id)
    assert found["allocation_requests"] == []


def test_searches_of_all_workers_are_one_entry_after_a_stop(tmp_path: Path, databases: Databases) -> None:
    ids = [new_request_id() for _ in range(SEARCHES)]
    with databases.fresh() as url:
        with Service(tmp_path, workers=2, database=url) as service:
            with contextlib.closing(service.client()) as client:
                create_host(client, 8)
            for each in ids:
                search(service, each)
            assert service.signal(signal.SIGTERM) == 0
        with Service(tmp_path, workers=2, database=url) as service:
            (entry,) = get(service, "/plimsoll/v1/unplaced")["unplaced"]
            assert entry["searches"] == SEARCHES
            for each in ids:
                (found,) = get(service, f"/plimsoll/v1/unplaced?request_id={each}")["unplaced"]
                assert [request["global_request_id"] for request in found["requests"]] == [each]
            assert service.signal(signal.SIGTERM) == 0
        assert "Traceback" not in service.log()


def test_searches_succeed_while_they_cannot_be_recorded(tmp_path: Path, databases: Databases) -> None:
    with databases.fresh() as url, Service(tmp_path, workers=1, database=url) as service:
        with contextlib.closing(service.client()) as client:
            create_host(client, 8)
        run_sql(url, "ALTER TABLE plimsoll_unplaced RENAME TO plimsoll_elsewhere")
        search(service)
        assert eventually(lambda: "were not recorded for /plimsoll/v1/unplaced" in service.log())
        run_sql(url, "ALTER TABLE plimsoll_elsewhere RENAME TO plimsoll_unplaced")
        search(service, amount=1_000_001)
        assert eventually(lambda: len(get(service, "/plimsoll/v1/unplaced")["unplaced"]) == 1)
        assert "Traceback" not in service.log()
