# SPDX-License-Identifier: Apache-2.0

"""A stop in the middle of a storm of claims: what got in is answered, what was answered is there, and in the log."""

import contextlib
import http.client
import signal
import sqlite3
import threading
import time
from pathlib import Path

from tests.processes.test_many_workers import a_host, claim
from tests.support.running import Client, Service

CLIENTS = 6
STORM_SECONDS = 1.0


class Storm:
    """Clients who claim over and over until nobody listens, and keep what they were told."""

    def __init__(self, service: Service, host: str) -> None:
        self._service = service
        self._host = host
        self.answered: list[int] = []
        self.cut: list[BaseException] = []
        """Requests that got some of an answer and not all of it."""
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
            except http.client.RemoteDisconnected:  # not one byte of an answer
                continue
            except (http.client.HTTPException, ValueError) as error:
                self.cut.append(error)
                return
            except OSError:  # nobody listens any more
                return
            self.answered.append(status)


def test_a_stop_cuts_no_claim_and_loses_no_line(tmp_path: Path) -> None:
    (tmp_path / "placement.conf").write_text(f"[DEFAULT]\nlog_file = {tmp_path}/requests.log\n")
    service = Service(tmp_path, workers=2).start()
    with contextlib.closing(service.client()) as client:
        host = a_host(client, 1_000_000)
    storm = Storm(service, host)
    storm.begin()
    time.sleep(STORM_SECONDS)
    # To ask more than once, or in another way, changes nothing.
    assert service.signal(signal.SIGTERM, signal.SIGINT, signal.SIGTERM) == 0, service.log()
    assert "Traceback" not in service.log()
    storm.end()
    assert storm.cut == []
    assert set(storm.answered) == {204}
    assert len(storm.answered) > CLIENTS, "the storm never began"

    lines = (tmp_path / "requests.log").read_text().splitlines()
    claims = [line for line in lines if '"PUT /allocations/' in line]
    # An answer may have got lost on its way to a client whose connection was closed: never a line of one that arrived.
    assert len(storm.answered) <= len(claims) <= len(storm.answered) + CLIENTS
    assert all("status: 204 len: 0 microversion: 1.39" in line for line in claims)

    with contextlib.closing(sqlite3.connect(tmp_path / "plimsoll.sqlite")) as database:
        (there,) = database.execute("SELECT COUNT(*) FROM allocations").fetchone()
    assert there == len(claims)
    verified = service.command("db", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
