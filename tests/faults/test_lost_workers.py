# SPDX-License-Identifier: Apache-2.0

"""A worker that holds the lock of the head dies or is stopped: the others must not wait for ever.

A proxy holds back its next message, so that it is in the middle of a transaction.
"""

from __future__ import annotations

import http.client
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer, proxied_url
from tests.faults.proxy import Gate, Proxy
from tests.faults.requests import new_uuid
from tests.faults.services import DatabaseService, HttpClient, assert_unavailable
from tests.support.api import Response
from tests.support.servers.processes import process_tree, signal_all

IDLE_TRANSACTION_SECONDS = 4
LOCK_SECONDS = 1

WRITE = b"UPDATE plimsoll_head"
"""The first statement of the one message that writes and commits a claim. The head was locked by the message before it.

It is sent as text to both engines; the statements after it are prepared ones on PostgreSQL.
"""


@dataclass
class Pair:
    """A service behind the proxy, and one that is connected directly to the server."""

    proxy: Proxy
    proxied: DatabaseService
    other: DatabaseService
    database_rows: DatabaseRows
    host: str

    def hold(self) -> Gate:
        """Hold back the next claim of the proxied service before it writes, while it holds the lock of the head."""
        with self.proxied.http_client() as client:
            assert client.claim(self.host).status == 204  # so that its snapshot is current
        return self.proxy.hold(WRITE)

    def start_claim(self, consumer: str) -> PendingClaim:
        return PendingClaim(self.proxied.port, self.host, consumer)

    def workers(self) -> list[int]:
        return process_tree(self.proxied.pid)[1:]


class PendingClaim(threading.Thread):
    """A claim in its own thread. `response` is None if none was received."""

    def __init__(self, port: int, host: str, consumer: str) -> None:
        super().__init__(daemon=True)
        self._claim = (port, host, consumer)
        self.response: Response | None = None
        self.start()

    def run(self) -> None:
        port, host, consumer = self._claim
        with suppress(OSError, http.client.HTTPException), HttpClient(port) as client:
            self.response = client.claim(host, consumer=consumer)


@pytest.fixture(scope="module")
def shared_pair(private_server: PrivateServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    directory = tmp_path_factory.mktemp("services")
    timeouts = {
        "IDLE_TRANSACTION_SECONDS": IDLE_TRANSACTION_SECONDS,
        "LOCK_SECONDS": LOCK_SECONDS,
        "RETRY_SECONDS": 2.0,
    }
    with private_server.database() as url, private_server.proxy() as proxy:
        proxied = DatabaseService(directory / "proxied", proxied_url(proxy, url), **timeouts)
        other = DatabaseService(directory / "other", url, **timeouts)
        database_rows = DatabaseRows(url)
        with proxied, other:
            yield Pair(proxy, proxied, other, database_rows, "")
            other.verify()
        database_rows.close()


@pytest.fixture
def pair(shared_pair: Pair) -> Iterator[Pair]:
    with shared_pair.other.http_client() as client:
        host = client.host(1000)
    yield replace(shared_pair, host=host)
    shared_pair.proxy.release()
    shared_pair.database_rows.assert_consistent()


def claim_until_written(client: HttpClient, host: str) -> list[int]:
    """Claim until one claim is written. Return the status codes."""
    statuses: list[int] = []
    for _ in range(60):
        statuses.append(client.claim(host).status)
        if statuses[-1] == 204:
            return statuses
    raise AssertionError(f"the lock of the head is never released: {statuses}")


def assert_reached(gate: Gate) -> None:
    assert gate.reached.wait(30), "the service has not sent the message"


@pytest.mark.long
def test_a_worker_that_is_killed_while_it_holds_the_head_blocks_no_other(pair: Pair) -> None:
    gate, consumer = pair.hold(), new_uuid()
    pending = pair.start_claim(consumer)
    assert_reached(gate)
    signal_all(pair.workers(), signal.SIGKILL)
    with pair.other.http_client() as client:
        assert client.claim(pair.host).status == 204
        assert client.used(pair.host) == 2
    pending.join(60)
    assert pending.response is None
    assert pair.database_rows.allocation_counts([pair.host])[consumer] == 0
    pair.proxied.wait()
    with pair.proxied.http_client() as client:
        assert client.used(pair.host) == 2


@pytest.mark.long
def test_a_worker_that_is_stopped_loses_the_head_and_writes_nothing_twice(pair: Pair) -> None:
    gate, consumer = pair.hold(), new_uuid()
    pending = pair.start_claim(consumer)
    assert_reached(gate)
    stopped = pair.workers()
    signal_all(stopped, signal.SIGSTOP)
    try:
        with pair.other.http_client() as client:
            statuses = claim_until_written(client, pair.host)
        assert set(statuses[:-1]) <= {503}
        assert pair.database_rows.allocation_counts([pair.host])[consumer] == 0
        gate.open()
    finally:
        signal_all(stopped, signal.SIGCONT)
    pending.join(60)
    assert pending.response is not None
    if pending.response.status != 204:  # it timed out while it was stopped
        assert_unavailable(pending.response)
    written = int(pending.response.status == 204)
    assert pair.database_rows.allocation_counts([pair.host])[consumer] == written
    for service in (pair.proxied, pair.other):
        with service.http_client() as client:
            assert client.used(pair.host) == 2 + written
