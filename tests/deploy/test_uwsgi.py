# SPDX-License-Identifier: Apache-2.0

"""deploy/uwsgi: uWSGI serves with the configuration of the example, also if it loads before it forks."""

from __future__ import annotations

import getpass
import grp
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.deploy import deployed, examples, scenarios
from tests.deploy.deployed import Deployed
from tests.support.databases import Databases
from tests.support.scrapes import scrape
from tests.support.servers.places import free_port
from tests.support.waiting import eventually

UWSGI = Path(sys.executable).with_name("uwsgi")
PROCESSES = 2

pytestmark = pytest.mark.skipif(not UWSGI.exists(), reason="not run: uWSGI, pyuwsgi is not installed")


def uwsgi(directory: Path, database: str | None = None, lines: dict[str, str] | None = None) -> Deployed:
    """Return uWSGI with the example, of which some lines are replaced."""
    port = free_port()
    deployed.settings(directory, database)
    places = {
        "127.0.0.1:8778": f"127.0.0.1:{port}",
        "processes = 1": f"processes = {PROCESSES}",
        "uid = placement": f"uid = {getpass.getuser()}",
        "gid = placement": f"gid = {grp.getgrgid(os.getgid()).gr_name}",
        "virtualenv = /opt/plimsoll": f"virtualenv = {sys.prefix}",
    }
    file = directory / "plimsoll-uwsgi.ini"
    file.write_text(examples.adapted("uwsgi/plimsoll-uwsgi.ini", places | (lines or {})))
    loads = PROCESSES if lines is None else 1
    return Deployed(
        [UWSGI, "--ini", file],
        port,
        directory,
        deployed.environment(directory),
        lambda log: has_loaded(log, loads),
    )


def has_loaded(log: str, times: int) -> bool:
    """Return True if the processes have loaded: uWSGI ignores a stop while a process still loads."""
    return log.count("WSGI app 1 (mountpoint='/') ready") == times and f"worker {PROCESSES} (pid" in log


def test_the_example_serves(databases: Databases, tmp_path: Path) -> None:
    with databases.fresh() as url, uwsgi(tmp_path, url) as service:
        scenarios.reads_and_writes(service)
        scenarios.http_edge_cases(service)
        scenarios.under_a_prefix(service)


def test_processes_forked_after_loading_load_their_own_service(databases: Databases, tmp_path: Path) -> None:
    """Without lazy-apps the first process loads and forks the others, without Python's fork hooks."""
    lines = {"lazy-apps = true": "lazy-apps = false"}
    with databases.fresh() as url, uwsgi(tmp_path, url, lines) as service:
        scenarios.reads_and_writes(service)
        assert len(service.processes) == 1 + PROCESSES


def test_a_process_may_load_with_its_first_request(tmp_path: Path) -> None:
    lines = {"lazy-apps = true": "lazy-apps = false", "load_application()": "application"}
    with uwsgi(tmp_path, lines=lines) as service:
        scenarios.reads_and_writes(service)


def test_a_reload_and_a_stop_abort_no_claim(tmp_path: Path) -> None:
    with uwsgi(tmp_path) as service:
        host = scenarios.create_host(service, 100_000)
        before = set(service.processes)
        os.kill(service.pid, signal.SIGHUP)
        deadline = time.monotonic() + deployed.SECONDS
        while not has_loaded(service.log(), 2 * PROCESSES):
            assert time.monotonic() < deadline, service.log()
            time.sleep(0.1)
        assert before & set(service.processes) == {service.pid}
        granted, well = scenarios.claim_until_stopped(service, host, enough=100)
        assert well, service.log()
        service.start()
        assert scenarios.used_amount(service, host) == granted


def test_a_start_that_cannot_succeed_fails(tmp_path: Path) -> None:
    service = uwsgi(tmp_path)
    deployed.settings(tmp_path, more="[plimsoll]\nthreads = none\n")
    try:
        assert service.launch().wait() != 0
        assert "[plimsoll] threads" in service.log()
    finally:
        service.kill()


def test_metrics_have_the_counters_of_all_processes_if_they_share_a_directory(tmp_path: Path) -> None:
    service = uwsgi(tmp_path)
    (tmp_path / "counters").mkdir()
    service.environment["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path / "counters")
    labels = {"route": "/traits", "method": "GET", "status": "200"}
    with service:
        for _ in range(20):  # each over another connection
            with service.client() as client:
                assert client.call("GET", "/traits")[0] == 200
        assert eventually(
            lambda: scrape(service.port).value("plimsoll_request_seconds_count", **labels) == 20
        )
    del service.environment["PROMETHEUS_MULTIPROC_DIR"]
    with service:
        assert "plimsoll_request_seconds_count" not in scrape(service.port).names
        assert "plimsoll_database_up" in scrape(service.port).names
