# SPDX-License-Identifier: Apache-2.0

"""Several worker processes on one SQLite file respond like a single one."""

import threading
from pathlib import Path
from uuid import uuid4

from tests.support.running import Client, Service

WORKERS = 4


def claim(client: Client, host: str, amount: int = 1, consumer: str | None = None) -> tuple[int, str | None]:
    body = {
        "allocations": {host: {"resources": {"VCPU": amount}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    status, outcome = client.call("PUT", f"/allocations/{consumer or uuid4()}", body)
    return status, None if outcome is None else outcome["errors"][0]["code"]


def create_host(client: Client, vcpu: int) -> str:
    host = str(uuid4())
    assert client.call("POST", "/resource_providers", {"uuid": host, "name": host})[0] == 200
    body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": vcpu}}}
    assert client.call("PUT", f"/resource_providers/{host}/inventories", body)[0] == 200
    return host


def test_ten_clients_claim_the_last_hundred_units_and_not_one_more(tmp_path: Path) -> None:
    with Service(tmp_path, workers=WORKERS) as service:
        host = create_host(service.client(), 100)
        outcomes: list[tuple[int, str | None]] = []

        def claim_until_refused_thrice() -> None:
            client, refused = service.client(), 0
            while refused < 3:
                outcome = claim(client, host)
                outcomes.append(outcome)
                refused += outcome[0] != 204

        threads = [threading.Thread(target=claim_until_refused_thrice) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count((204, None)) == 100
        assert outcomes.count((409, "placement.undefined_code")) == len(outcomes) - 100 == 30
        # One worker serves each connection: with twenty connections, every worker gets some.
        for _ in range(20):
            client = service.client()
            assert client.call("GET", f"/resource_providers/{host}/usages")[1]["usages"] == {"VCPU": 100}
            _, found = client.call("GET", "/allocation_candidates?resources=VCPU:1")
            assert found["allocation_requests"] == []
            assert claim(client, host)[0] == 409
            client.close()
        verified = service.command("db", "verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_write_through_one_worker_is_visible_to_the_next_request_through_any_other(tmp_path: Path) -> None:
    with Service(tmp_path, workers=WORKERS) as service:
        clients = [service.client() for _ in range(8)]
        host = create_host(clients[0], 1000)
        for number in range(40):
            writer, reader = clients[number % 8], clients[(number * 3 + 1) % 8]
            assert claim(writer, host)[0] == 204
            status, shown = reader.call("GET", f"/resource_providers/{host}")
            assert status == 200
            assert shown["generation"] == number + 2
            name = f"child-{number}"
            created = writer.call("POST", "/resource_providers", {"name": name, "parent_provider_uuid": host})
            _, listed = reader.call("GET", f"/resource_providers?name={name}")
            assert [each["uuid"] for each in listed["resource_providers"]] == [created[1]["uuid"]]
