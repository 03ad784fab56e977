# SPDX-License-Identifier: Apache-2.0

"""Counters have few series, and those of several processes are added up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.domain.refusals import AllocationsMissing
from plimsoll.metrics import DIRECTORY_VARIABLE
from plimsoll.monitoring.counters import PrometheusMetrics
from plimsoll.monitoring.exposition import Exposition
from plimsoll.storage.errors import HeadMoved
from tests.support.scrapes import Scrape


@pytest.fixture(autouse=True)
def no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY_VARIABLE, raising=False)


def scraped(metrics: PrometheusMetrics) -> Scrape:
    text = Exposition(10_000, lambda: None)
    text.add(metrics.collect())
    return Scrape(b"".join(text.texts).decode())


def test_requests_are_counted_by_route_method_and_status() -> None:
    metrics = PrometheusMetrics()
    for status in ("200", "200", "404"):
        metrics.request_done("/traits/{name}", "GET", status, 0.004)
    scrape = scraped(metrics)
    labels = {"route": "/traits/{name}", "method": "GET"}
    assert scrape.value("plimsoll_request_seconds_count", **labels, status="200") == 2
    assert scrape.value("plimsoll_request_seconds_count", **labels, status="404") == 1
    assert scrape.value("plimsoll_request_seconds_bucket", **labels, status="200", le="0.0025") == 0
    assert scrape.value("plimsoll_request_seconds_bucket", **labels, status="200", le="0.01") == 2


def test_methods_that_clients_invent_are_one_label() -> None:
    metrics = PrometheusMetrics()
    for number in range(100):
        metrics.request_done("other", f"METHOD{number}", "405", 0.001)
    scrape = scraped(metrics)
    assert scrape.values("plimsoll_request_seconds_count", "method") == {"other": 100}
    assert metrics._by_request == {}


def test_each_event_has_its_series() -> None:
    metrics = PrometheusMetrics()
    metrics.request_refused(408)
    metrics.read_repeated()
    metrics.search_done("empty")
    metrics.search_stage_done("plan", 0.5)
    metrics.claims_done(3, None)
    metrics.claims_done(2, AllocationsMissing("c"))
    metrics.conflict(AllocationsMissing("c"))
    metrics.batch_committed(5)
    metrics.commit_done("locked", 0.5)
    metrics.head_locked(0.25, 0.5)
    metrics.commit_retried(HeadMoved())
    metrics.changes_followed(12, 0.5)
    metrics.full_load_done(2)
    metrics.database_failed(HeadMoved())
    metrics.memory_verified("equal")
    scrape = scraped(metrics)
    assert scrape.value("plimsoll_refused_requests_total", status="408") == 1
    assert scrape.value("plimsoll_repeated_reads_total") == 1
    assert scrape.value("plimsoll_searches_total", result="empty") == 1
    assert scrape.value("plimsoll_searches_total", result="found") == 0
    assert scrape.value("plimsoll_search_stage_seconds_sum", stage="plan") == 0.5
    assert scrape.value("plimsoll_claims_total", result="accepted") == 3
    assert scrape.value("plimsoll_claims_total", result="refused") == 2
    assert scrape.value("plimsoll_conflicts_total", reason="allocations_missing") == 1
    assert scrape.value("plimsoll_batch_commands_sum") == 5
    assert scrape.value("plimsoll_commit_seconds_count", mode="locked") == 1
    assert scrape.value("plimsoll_head_wait_seconds_sum") == 0.25
    assert scrape.value("plimsoll_head_held_seconds_sum") == 0.5
    assert scrape.value("plimsoll_commit_retries_total", reason="head_moved") == 1
    assert scrape.value("plimsoll_followed_changes_total") == 12
    assert scrape.value("plimsoll_follow_seconds_count") == 1
    assert scrape.value("plimsoll_full_load_seconds_sum") == 2
    assert scrape.value("plimsoll_database_errors_total", reason="head_moved") == 1
    assert scrape.value("plimsoll_verifications_total", result="equal") == 1


WORKER = """
import os, sys
from plimsoll.monitoring.counters import PrometheusMetrics
metrics = PrometheusMetrics(int(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    metrics.request_done("/", "GET", "200", 0.001)
    metrics.read_repeated()
os.kill(os.getpid(), 9)
"""


def test_the_counters_of_killed_processes_stay_and_their_successors_continue_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    for worker, requests in ((0, 3), (1, 4), (0, 5)):
        subprocess.run([sys.executable, "-c", WORKER, str(worker), str(requests)], check=False)
    scrape = scraped(PrometheusMetrics(worker=2))
    assert scrape.value("plimsoll_request_seconds_count", route="/", method="GET", status="200") == 12
    assert scrape.value("plimsoll_repeated_reads_total") == 12
    numbers = {file.stem.partition("_")[2] for file in tmp_path.iterdir()}
    assert numbers == {"0", "1", "2"}, "a process that takes over a number adds no files"
