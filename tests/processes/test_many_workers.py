# SPDX-License-Identifier: Apache-2.0

"""Several worker processes on one SQLite file answer as one would."""

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
    status, answer = client.call("PUT", f"/allocations/{consumer or uuid4()}", body)
    return status, None if answer is None else answer["errors"][0]["code"]


def a_host(client: Client, vcpu: int) -> str:
    host = str(uuid4())
    assert client.call("POST", "/resource_providers", {"uuid": host, "name": host})[0] == 200
    body = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": vcpu}}}
    assert client.call("PUT", f"/resource_providers/{host}/inventories", body)[0] == 200
    return host


def test_ten_clients_claim_the_last_hundred_units_and_not_one_more(tmp_path: Path) -> None:
    with Service(tmp_path, workers=WORKERS) as service:
        host = a_host(service.client(), 100)
        answers: list[tuple[int, str | None]] = []

        def claim_until_refused_thrice() -> None:
            client, refused = service.client(), 0
            while refused < 3:
                answer = claim(client, host)
                answers.append(answer)
                refused += answer[0] != 204

        threads = [threading.Thread(target=claim_until_refused_thrice) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers.count((204, None)) == 100
        assert answers.count((409, "placement.undefined_code")) == len(answers) - 100 == 30
        # Each connection is served by one worker: by twenty of them every worker is asked.
        for _ in range(20):
            client = service.client()
            assert client.call("GET", f"/resource_providers/{host}/usages")[1]["usages"] == {"VCPU": 100}
            _, found = client.call("GET", "/allocation_candidates?resources=VCPU:1")
            assert found["allocation_requests"] == []
            assert claim(client, host)[0] == 409
            client.close()
        verified = service.command("db", "verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_write_answered_by_one_worker_is_seen_by_the_next_request_at_any_other(tmp_path: Path) -> None:
    with Service(tmp_path, workers=WORKERS) as service:
        clients = [service.client() for _ in range(8)]
        host = a_host(clients[0], 1000)
        for turn in range(40):
            writer, reader = clients[turn % 8], clients[(turn * 3 + 1) % 8]
            assert claim(writer, host)[0] == 204
            status, seen = reader.call("GET", f"/resource_providers/{host}")
            assert status == 200
            assert seen["generation"] == turn + 2
            name = f"child-{turn}"
            made = writer.call("POST", "/resource_providers", {"name": name, "parent_provider_uuid": host})
            _, listed = reader.call("GET", f"/resource_providers?name={name}")
            assert [each["uuid"] for each in listed["resource_providers"]] == [made[1]["uuid"]]
