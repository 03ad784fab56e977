# SPDX-License-Identifier: Apache-2.0

"""A stop during many claims: accepted requests get responses, acknowledged claims are stored and logged."""

import contextlib
import http.client
import signal
import sqlite3
import threading
import time
from pathlib import Path

from tests.processes.test_many_workers import claim, create_host
from tests.support.running import Client, Service

CLIENTS = 6
STORM_SECONDS = 1.0


class ClaimingClients:
    """Clients that claim repeatedly until the port is closed, and record the responses."""

    def __init__(self, service: Service, host: str) -> None:
        self._service = service
        self._host = host
        self.acknowledged: list[int] = []
        self.truncated: list[BaseException] = []
        """Errors of responses that were incomplete."""
        self._threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        for thread in self._threads:
            thread.join(60)

    def _run(self) -> None:
        with contextlib.closing(self._service.client()) as client:
            self._claim(client)

    def _claim(self, client: Client) -> None:
        while True:
            try:
                status, _ = claim(client, self._host)
            except http.client.RemoteDisconnected:  # no byte of a response
                continue
            except (http.client.HTTPException, ValueError) as error:
                self.truncated.append(error)
                return
            except OSError:  # the port is closed
                return
            self.acknowledged.append(status)


def test_a_stop_aborts_no_claim_and_loses_no_log_line(tmp_path: Path) -> None:
    (tmp_path / "placement.conf").write_text(f"[DEFAULT]\nlog_file = {tmp_path}/requests.log\n")
    service = Service(tmp_path, workers=2).start()
    with contextlib.closing(service.client()) as client:
        host = create_host(client, 1_000_000)
    clients = ClaimingClients(service, host)
    clients.begin()
    time.sleep(STORM_SECONDS)
    # Further signals during the stop change nothing.
    assert service.signal(signal.SIGTERM, signal.SIGINT, signal.SIGTERM) == 0, service.log()
    assert "Traceback" not in service.log()
    clients.end()
    assert clients.truncated == []
    assert set(clients.acknowledged) == {204}
    assert len(clients.acknowledged) > CLIENTS, "the clients made too few claims"

    lines = (tmp_path / "requests.log").read_text().splitlines()
    claims = [line for line in lines if '"PUT /allocations/' in line]
    # A closed connection may lose a response; but each response that arrived must have its log line.
    assert len(clients.acknowledged) <= len(claims) <= len(clients.acknowledged) + CLIENTS
    assert all("status: 204 len: 0 microversion: 1.39" in line for line in claims)

    with contextlib.closing(sqlite3.connect(tmp_path / "plimsoll.sqlite")) as database:
        (stored,) = database.execute("SELECT COUNT(*) FROM allocations").fetchone()
    assert stored == len(claims)
    verified = service.command("db", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
