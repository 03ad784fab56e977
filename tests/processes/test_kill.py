# SPDX-License-Identifier: Apache-2.0

"""kill -9 in the middle of a storm of claims: what was answered is there, and nothing is half there."""

import http.client
import threading
import time
from pathlib import Path
from uuid import uuid4

from tests.processes.test_many_workers import a_host
from tests.support.running import Service

STORM_SECONDS = 2.0
CLIENTS = 6


def test_every_answered_claim_survives_and_none_is_half_there(tmp_path: Path) -> None:
    service = Service(tmp_path, workers=2).start()
    hosts = [a_host(service.client(), 1_000_000) for _ in range(2)]
    answered: list[str] = []
    asked: list[str] = []

    def storm() -> None:
        client = service.client()
        while True:
            consumer = str(uuid4())
            asked.append(consumer)
            body = {
                "allocations": {host: {"resources": {"VCPU": 1}} for host in hosts},
                "project_id": "p",
                "user_id": "u",
                "consumer_generation": None,
                "consumer_type": "INSTANCE",
            }
            try:
                status, _ = client.call("PUT", f"/allocations/{consumer}", body)
            except (OSError, http.client.HTTPException):
                return
            assert status == 204
            answered.append(consumer)

    threads = [threading.Thread(target=storm) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(STORM_SECONDS)
    service.kill()
    for thread in threads:
        thread.join()
    assert len(answered) > CLIENTS, "the storm never began"

    with service.start():
        client = service.client()
        shown = [client.call("GET", f"/resource_providers/{host}/allocations")[1] for host in hosts]
        there = [each["allocations"] for each in shown]
        assert there[0].keys() == there[1].keys(), "a claim is half there"
        assert set(answered) <= there[0].keys(), "an answered claim is lost"
        assert there[0].keys() <= set(asked)
        for host, each in zip(hosts, shown, strict=True):
            used = client.call("GET", f"/resource_providers/{host}/usages")[1]["usages"]
            assert used == {"VCPU": len(there[0])}
            assert each["resource_provider_generation"] == len(there[0]) + 1
        verified = service.command("db", "verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr
