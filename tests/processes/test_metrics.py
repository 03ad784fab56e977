# SPDX-License-Identifier: Apache-2.0

"""The counters of all workers together equal what clients did, also if workers are killed meanwhile."""

from __future__ import annotations

import http.client
import os
import re
import signal
import threading
from collections import Counter
from functools import partial
from pathlib import Path

from tests.processes.test_many_workers import claim, create_host
from tests.support.running import Client, Service
from tests.support.scrapes import Scrape, scrape
from tests.support.waiting import eventually

CLIENTS = 8
ROUNDS = 40
TOO_MUCH = 10_000_000

Done = Counter[tuple[str, str, str]]
"""Responses by route, method and status."""


def claim_and_read(client: Client, host: str, done: Done) -> None:
    """Claim twice, the second time too much, and read the host."""
    for amount in (1, TOO_MUCH):
        status, _ = claim(client, host, amount)
        done["/allocations/{consumer_uuid}", "PUT", str(status)] += 1
    status, _ = client.call("GET", f"/resource_providers/{host}")
    done["/resource_providers/{uuid}", "GET", str(status)] += 1
    client.call("GET", f"/allocation_candidates?resources=VCPU:{TOO_MUCH}")


def counted(found: Scrape) -> Done:
    """Return the requests that a scrape shows, without those that set the test up."""
    counts: Done = Counter()
    for (name, pairs), value in found.series.items():
        labels = dict(pairs)
        if name == "plimsoll_request_seconds_count" and labels["route"].count("{") and value:
            counts[labels["route"], labels["method"], labels["status"]] = int(value)
    del counts["/resource_providers/{uuid}/inventories", "PUT", "200"]
    return counts


def assert_no_counter_went_back(before: Scrape, after: Scrape) -> None:
    counters = [series for series in before.series if series[0].endswith(("_total", "_count", "_bucket"))]
    assert len(counters) > 50
    for series in counters:
        assert after.series.get(series, -1) >= before.series[series], series


def run(clients: list[threading.Thread]) -> None:
    for thread in clients:
        thread.start()


def test_counters_equal_what_eight_clients_did_through_two_workers(tmp_path: Path) -> None:
    with Service(tmp_path, workers=2) as service:
        host = create_host(service.client(), 1_000_000)
        done: list[Done] = [Counter() for _ in range(CLIENTS)]

        def work(mine: Done) -> None:
            client = service.client()
            for _ in range(ROUNDS):
                claim_and_read(client, host, mine)

        threads = [threading.Thread(target=work, args=(mine,)) for mine in done]
        run(threads)
        before = scrape(service.port)
        while any(thread.is_alive() for thread in threads):
            now = scrape(service.port)
            assert_no_counter_went_back(before, now)
            before = now
        for thread in threads:
            thread.join()
        # The last responses were sent before they were counted; no other request runs.
        total = sum(done, Counter())
        assert total["/allocations/{consumer_uuid}", "PUT", "204"] == CLIENTS * ROUNDS
        assert eventually(lambda: counted(scrape(service.port)) == total)
        # Searches without candidates are explained in the background.
        assert eventually(lambda: scrape(service.port).sum("plimsoll_search_empty_total") == CLIENTS * ROUNDS)
        found = scrape(service.port)
    assert found.values("plimsoll_claims_total", "result") == {
        "accepted": CLIENTS * ROUNDS,
        "refused": CLIENTS * ROUNDS,
    }
    assert found.value("plimsoll_conflicts_total", reason="capacity_exceeded") == CLIENTS * ROUNDS
    assert found.value("plimsoll_searches_total", result="empty") == CLIENTS * ROUNDS
    assert found.value("plimsoll_unmet_amount_total", resource_class="VCPU") == CLIENTS * ROUNDS * TOO_MUCH
    assert found.value("plimsoll_batch_commands_count") == found.sum("plimsoll_commit_seconds_count")
    assert found.value("plimsoll_resource_used", resource_class="VCPU") == CLIENTS * ROUNDS
    assert found.value("plimsoll_head_sequence") == found.value("plimsoll_snapshot_sequence")


def test_counters_do_not_go_back_when_workers_are_killed(tmp_path: Path) -> None:
    with Service(tmp_path, workers=2) as service:
        host = create_host(service.client(), 1_000_000)
        done: list[Done] = [Counter() for _ in range(CLIENTS)]
        stop = threading.Event()

        def work(mine: Done) -> None:
            client = service.client()
            while not stop.is_set():
                try:
                    claim_and_read(client, host, mine)
                except (OSError, http.client.HTTPException):  # its worker was killed
                    client = service.client()

        threads = [threading.Thread(target=work, args=(mine,)) for mine in done]
        run(threads)
        assert eventually(lambda: "listens on" in service.log())  # both workers
        before = scrape(service.port)
        for number in range(1, 4):
            os.kill(service.worker_pids()[0], signal.SIGKILL)
            assert eventually(partial(has_started_workers, service, number)), service.log()[-5000:]
            now = eventual_scrape(service)
            assert_no_counter_went_back(before, now)
            before = now
        stop.set()
        for thread in threads:
            thread.join()
        answered = sum(done, Counter())
        found = counted(scrape(service.port))
        directories = [
            path for path in Path("/dev/shm").glob("plimsoll-metrics-*") if is_used_by(path, service)
        ]
        assert [len(list(path.glob("counter_*.db"))) for path in directories] == [2]
    # A request whose worker was killed may be counted without a response, and no other.
    for key, count in answered.items():
        assert count <= found[key] <= count + 3 * CLIENTS, key
    assert not directories[0].exists()


def has_started_workers(service: Service, count: int) -> bool:
    """True if the supervisor has replaced so many workers."""
    return len(re.findall(r"Worker \d+ has started", service.log())) == count


def eventual_scrape(service: Service) -> Scrape:
    """Scrape; the connection may be one that the killed worker had accepted."""
    found: list[Scrape] = []

    def succeeds() -> bool:
        try:
            found.append(scrape(service.port))
        except OSError:
            return False
        return True

    assert eventually(succeeds)
    return found[0]


def is_used_by(directory: Path, service: Service) -> bool:
    variables = Path(f"/proc/{service.worker_pids()[0]}/environ").read_bytes().split(b"\0")
    return f"PROMETHEUS_MULTIPROC_DIR={directory}".encode() in variables
