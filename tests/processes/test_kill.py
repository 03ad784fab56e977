# SPDX-License-Identifier: Apache-2.0

"""kill -9 during many claims: every acknowledged claim is stored, and none is stored in part."""

import http.client
import threading
import time
from pathlib import Path
from uuid import uuid4

from tests.processes.test_many_workers import create_host
from tests.support.running import Service

STORM_SECONDS = 2.0
CLIENTS = 6


def test_every_acknowledged_claim_survives_and_none_is_partial(tmp_path: Path) -> None:
    service = Service(tmp_path, workers=2).start()
    hosts = [create_host(service.client(), 1_000_000) for _ in range(2)]
    acknowledged: list[str] = []
    attempted: list[str] = []

    def claim_repeatedly() -> None:
        client = service.client()
        while True:
            consumer = str(uuid4())
            attempted.append(consumer)
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
            acknowledged.append(consumer)

    threads = [threading.Thread(target=claim_repeatedly) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(STORM_SECONDS)
    service.kill()
    for thread in threads:
        thread.join()
    assert len(acknowledged) > CLIENTS, "the clients made too few claims"

    with service.start():
        client = service.client()
        shown = [client.call("GET", f"/resource_providers/{host}/allocations")[1] for host in hosts]
        stored = [each["allocations"] for each in shown]
        assert stored[0].keys() == stored[1].keys(), "a claim is stored in part"
        assert set(acknowledged) <= stored[0].keys(), "an acknowledged claim is lost"
        assert stored[0].keys() <= set(attempted)
        for host, each in zip(hosts, shown, strict=True):
            used = client.call("GET", f"/resource_providers/{host}/usages")[1]["usages"]
            assert used == {"VCPU": len(stored[0])}
            assert each["resource_provider_generation"] == len(stored[0]) + 1
        verified = service.command("db", "verify")
        assert verified.returncode == 0, verified.stdout + verified.stderr
