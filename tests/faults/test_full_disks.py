# SPDX-License-Identifier: Apache-2.0

"""The disk under the database is full. Writes are turned away, reads go on, and with room again all is well.

The data lie on a small file system of their own, which takes the right to mount one; without it these are not run.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.books import Books
from tests.faults.ground import Ground, make_ready
from tests.faults.requests import claim, new_uuid
from tests.faults.services import assert_unavailable, says_nothing_was_changed, settle
from tests.support import databases as on
from tests.support.api import Answer, Api, api
from tests.support.servers import Server
from tests.support.waiting import eventually

MEGABYTES = {"sqlite": 16, "postgresql": 160, "mariadb": 300}
MOST_CLAIMS = 400
"""So many, of this size, do not fit into what a database has put aside."""
CONSUMERS_AT_ONCE = 40


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
    books: Books
    disk: Path
    hosts: list[str]
    server: Server | None

    def fill(self) -> None:
        """Leave no byte. What the database has put aside for itself stays its own."""
        with (self.disk / "ballast").open("wb", buffering=0) as ballast:
            piece = b"\0" * 65536
            while piece:
                try:
                    ballast.write(piece)
                except OSError:
                    piece = piece[: len(piece) // 2]

    def make_room(self) -> None:
        (self.disk / "ballast").unlink()
        if self.server is not None and self.has_ended_itself:
            self.server.kill()
            self.server.start()

    @property
    def has_ended_itself(self) -> bool:
        """InnoDB does when it cannot write what it must; an operator's service manager starts it again."""
        if self.server is None or self._answers(self.server):
            return False
        server = self.server
        return eventually(lambda: not server.is_running)  # it writes its stack to its log first

    @staticmethod
    def _answers(server: Server) -> bool:
        try:
            server.run_sql("SELECT 1")
        except Exception:  # whatever it is, a reader would get it as well
            return False
        return True

    def assert_reads_go_on(self) -> None:
        if not self.has_ended_itself:
            assert self.api.get("/allocation_candidates?resources=VCPU:1&limit=1").status == 200

    def claim(self) -> tuple[list[str], Answer]:
        consumers = [new_uuid() for _ in range(CONSUMERS_AT_ONCE)]
        return consumers, self.api.post("/allocations", {uuid: claim(*self.hosts) for uuid in consumers})


@pytest.fixture(params=on.chosen())
def case(request: pytest.FixtureRequest, tmp_path: Path, impatient: None) -> Iterator[Case]:
    server: Server | None = None
    with ExitStack() as stack:
        if request.param == "sqlite":
            disk = tmp_path / "disk"
            disk.mkdir()
            stack.enter_context(small_disk(disk, MEGABYTES["sqlite"]))
            url = f"sqlite:///{disk / 'placement.sqlite'}"
            make_ready(url)
        else:
            server = on.SERVERS[request.param]()
            stack.callback(server.remove)
            disk = server.directory
            stack.enter_context(small_disk(disk, MEGABYTES[request.param]))
            stack.callback(server.kill)
            server.start()
            url = stack.enter_context(Ground(server).database())
        service = stack.enter_context(api(url))
        hosts = [service.host(new_uuid(), VCPU=10_000_000) for _ in range(5)]
        books = Books(url)
        stack.callback(books.close)
        yield Case(service, books, disk, hosts, server)


@pytest.mark.long
def test_a_full_disk_turns_writes_away_and_loses_nothing(case: Case) -> None:
    answers: dict[str, Answer] = {}

    def claim_once() -> Answer:
        consumers, answer = case.claim()
        answers.update(dict.fromkeys(consumers, answer))
        return answer

    assert claim_once().status == 204
    case.fill()
    for _ in range(MOST_CLAIMS):
        answer = claim_once()
        if answer.status != 204:
            break
    assert_unavailable(answer)
    case.assert_reads_go_on()
    assert_unavailable(claim_once())
    case.make_room()
    settle(case.api)
    assert claim_once().status == 204
    there = case.books.holders(case.hosts)
    for consumer, answer in answers.items():
        assert there[consumer] in ((len(case.hosts),) if answer.status == 204 else (0, len(case.hosts)))
        if answer.status != 204 and says_nothing_was_changed(answer):
            assert there[consumer] == 0
    case.books.assert_sound()


@pytest.mark.long
def test_who_finds_the_disk_full_is_told_that_nothing_was_changed_if_the_database_lives_to_say_so(
    case: Case,
) -> None:
    claimed: list[str] = []
    case.fill()
    for _ in range(MOST_CLAIMS):
        consumers, answer = case.claim()
        if answer.status != 204:
            break
        claimed += consumers
    assert_unavailable(answer)
    nothing_was_changed = says_nothing_was_changed(answer)
    if not nothing_was_changed:
        assert case.has_ended_itself, answer.detail
        assert "Whether the request was carried out is not known" in answer.detail
    case.make_room()
    settle(case.api)
    without, with_it = (
        Counter(dict.fromkeys(there, len(case.hosts))) for there in (claimed, claimed + consumers)
    )
    assert case.books.holders(case.hosts) in ([without] if nothing_was_changed else [without, with_it])
    case.books.assert_sound()
