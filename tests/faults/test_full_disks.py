# SPDX-License-Identifier: Apache-2.0

"""The disk of the database is full. Writes fail with 503, reads succeed, and with free space writes succeed again.

The data are on a small file system of their own. Without the right to mount one these tests are skipped.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer, prepare_database
from tests.faults.requests import claim, new_uuid
from tests.faults.services import assert_unavailable, states_nothing_was_changed, wait_until_recovered
from tests.support import databases as on
from tests.support.api import Api, Response, api
from tests.support.servers import Server
from tests.support.waiting import eventually

MEGABYTES = {"sqlite": 16, "postgresql": 160, "mariadb": 300}
MAX_CLAIMS = 400
"""This many claims do not fit into the space that a database has reserved in its files."""
CONSUMERS_PER_CLAIM = 40


@contextmanager
def small_disk(directory: Path, megabytes: int) -> Iterator[None]:
    owner = directory.stat()
    options = f"size={megabytes}m,uid={owner.st_uid},gid={owner.st_gid},mode=0700"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", str(directory)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"not run: a full disk, {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


@dataclass
class Case:
    api: Api
    database_rows: DatabaseRows
    disk: Path
    hosts: list[str]
    server: Server | None

    def fill(self) -> None:
        """Fill the disk to the last byte. Space that the database has reserved in its files stays usable."""
        with (self.disk / "ballast").open("wb", buffering=0) as ballast:
            block = b"\0" * 65536
            while block:
                try:
                    ballast.write(block)
                except OSError:
                    block = block[: len(block) // 2]

    def free_space(self) -> None:
        (self.disk / "ballast").unlink()
        if self.server is not None and self.has_crashed:
            self.server.kill()
            self.server.start()

    @property
    def has_crashed(self) -> bool:
        """InnoDB aborts when a write that it needs fails; in production the service manager starts it again."""
        if self.server is None or self._responds(self.server):
            return False
        server = self.server
        return eventually(lambda: not server.is_running)  # it first writes a stack trace to its log

    @staticmethod
    def _responds(server: Server) -> bool:
        try:
            server.run_sql("SELECT 1")
        except Exception:  # any error: a reader would get it as well
            return False
        return True

    def assert_reads_succeed(self) -> None:
        if not self.has_crashed:
            assert self.api.get("/allocation_candidates?resources=VCPU:1&limit=1").status == 200

    def claim(self) -> tuple[list[str], Response]:
        consumers = [new_uuid() for _ in range(CONSUMERS_PER_CLAIM)]
        return consumers, self.api.post("/allocations", {uuid: claim(*self.hosts) for uuid in consumers})


@pytest.fixture(params=on.selected_engines())
def case(request: pytest.FixtureRequest, tmp_path: Path, short_timeouts: None) -> Iterator[Case]:
    server: Server | None = None
    with ExitStack() as stack:
        if request.param == "sqlite":
            disk = tmp_path / "disk"
            disk.mkdir()
            stack.enter_context(small_disk(disk, MEGABYTES["sqlite"]))
            url = f"sqlite:///{disk / 'placement.sqlite'}"
            prepare_database(url)
        else:
            server = on.SERVERS[request.param]()
            stack.callback(server.remove)
            disk = server.directory
            stack.enter_context(small_disk(disk, MEGABYTES[request.param]))
            stack.callback(server.kill)
            server.start()
            url = stack.enter_context(PrivateServer(server).database())
        service = stack.enter_context(api(url))
        hosts = [service.host(new_uuid(), VCPU=10_000_000) for _ in range(5)]
        database_rows = DatabaseRows(url)
        stack.callback(database_rows.close)
        yield Case(service, database_rows, disk, hosts, server)


@pytest.mark.long
def test_a_full_disk_fails_writes_and_loses_nothing(case: Case) -> None:
    responses: dict[str, Response] = {}

    def claim_once() -> Response:
        consumers, response = case.claim()
        responses.update(dict.fromkeys(consumers, response))
        return response

    assert claim_once().status == 204
    case.fill()
    for _ in range(MAX_CLAIMS):
        response = claim_once()
        if response.status != 204:
            break
    assert_unavailable(response)
    case.assert_reads_succeed()
    assert_unavailable(claim_once())
    case.free_space()
    wait_until_recovered(case.api)
    assert claim_once().status == 204
    counts = case.database_rows.allocation_counts(case.hosts)
    for consumer, response in responses.items():
        assert counts[consumer] in ((len(case.hosts),) if response.status == 204 else (0, len(case.hosts)))
        if response.status != 204 and states_nothing_was_changed(response):
            assert counts[consumer] == 0
    case.database_rows.assert_consistent()


@pytest.mark.long
def test_the_response_states_that_nothing_was_changed_unless_the_database_has_crashed(case: Case) -> None:
    claimed: list[str] = []
    case.fill()
    for _ in range(MAX_CLAIMS):
        consumers, response = case.claim()
        if response.status != 204:
            break
        claimed += consumers
    assert_unavailable(response)
    nothing_was_changed = states_nothing_was_changed(response)
    if not nothing_was_changed:
        assert case.has_crashed, response.detail
        assert "The request may or may not have been carried out" in response.detail
    case.free_space()
    wait_until_recovered(case.api)
    without_last, with_last = (
        Counter(dict.fromkeys(holders, len(case.hosts))) for holders in (claimed, claimed + consumers)
    )
    assert case.database_rows.allocation_counts(case.hosts) in (
        [without_last] if nothing_was_changed else [without_last, with_last]
    )
    case.database_rows.assert_consistent()
