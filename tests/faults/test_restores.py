# SPDX-License-Identifier: Apache-2.0

"""A database is brought back from a backup under running workers. They notice, and know what it says now.

The history that they know and the one that they find may have the same length, and yet be two.
"""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tests.faults.books import Books
from tests.faults.ground import Ground, make_ready
from tests.faults.requests import claim, new_uuid
from tests.support import databases as on
from tests.support.api import Api, api
from tests.support.servers import programs
from tests.support.servers.postgresql import PLACES


class Backups:
    """Dumps and restores one database, as its operator would. Workers may be connected; none is asked meanwhile."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = make_url(url)
        self._directory = directory

    def dump(self) -> Path:
        file = self._directory / new_uuid()
        match self._url.get_backend_name():
            case "sqlite":
                _copy(str(self._url.database), str(file))
            case "postgresql":
                self._run("pg_dump", "--clean", "--if-exists", f"--file={file}", *self._address())
            case _:
                self._run("mariadb-dump", *self._address(), f"--result-file={file}")
        return file

    def restore(self, file: Path) -> None:
        match self._url.get_backend_name():
            case "sqlite":
                _copy(str(file), str(self._url.database))
            case "postgresql":
                quietly = ("--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", "--output=/dev/null")
                self._run("psql", *quietly, f"--file={file}", *self._address())
            case _:
                self._run("mariadb", *self._address(), f"--execute=source {file}")

    def _address(self) -> list[str]:
        url = self._url
        if url.get_backend_name() == "postgresql":
            return [f"--dbname=postgresql://{url.username}@{url.host}:{url.port}/{url.database}"]
        where = [f"--host={url.host}", f"--port={url.port}", f"--user={url.username}"]
        return ["--no-defaults", *where, str(url.database)]

    def _run(self, program: str, *words: str) -> None:
        command = [str(programs.find(program, *PLACES)), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


def _copy(source: str, target: str) -> None:
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)


Ready = Callable[[Path], AbstractContextManager[str]]
"""Gives the URL of a database that a service can start on; a file would lie in this directory."""


@dataclass
class Case:
    """Two workers on one database, as far as memory is concerned."""

    one: Api
    other: Api
    backups: Backups
    books: Books
    host: str

    def used(self, worker: Api) -> int:
        usages = worker.get(f"/resource_providers/{self.host}/usages")
        assert usages.status == 200, usages.body
        return int(usages.json["usages"]["VCPU"])

    def claim(self, worker: Api, project: str = "p", user: str = "u", amount: int = 1) -> str:
        consumer = new_uuid()
        body = claim(self.host, amount=amount, project=project, user=user)
        answer = worker.put(f"/allocations/{consumer}", body)
        assert answer.status == 204, answer.body
        return consumer


@pytest.fixture(scope="module", params=on.chosen())
def ready(request: pytest.FixtureRequest) -> Iterator[Ready]:
    """Fresh databases of each engine in turn, SQLite's too."""
    if request.param == "sqlite":
        yield sqlite_file
        return
    with on.SERVERS[request.param](durable=False) as server:
        ground = Ground(server)
        yield lambda _: ground.database()


@contextmanager
def sqlite_file(directory: Path) -> Iterator[str]:
    url = f"sqlite:///{directory / 'placement.sqlite'}"
    make_ready(url)
    yield url


@pytest.fixture
def case(ready: Ready, tmp_path: Path) -> Iterator[Case]:
    with ready(tmp_path) as url, api(url) as one, api(url) as other:
        host = one.host(new_uuid(), VCPU=1000)
        books = Books(url)
        yield Case(one, other, Backups(url, tmp_path), books, host)
        books.assert_sound()
        books.close()


def test_a_worker_that_is_ahead_of_an_older_backup_knows_what_it_says(case: Case) -> None:
    kept = case.claim(case.one)
    backup = case.backups.dump()
    lost = [case.claim(case.one) for _ in range(3)]
    assert case.used(case.one) == case.used(case.other) == 4
    case.backups.restore(backup)
    assert case.used(case.one) == case.used(case.other) == 1
    assert case.one.get(f"/allocations/{lost[0]}").json["allocations"] == {}
    assert case.one.get(f"/allocations/{kept}").json["allocations"] != {}
    case.claim(case.one)
    assert case.used(case.one) == case.used(case.other) == 2


def test_a_worker_notices_another_history_of_the_same_length(case: Case) -> None:
    backup = case.backups.dump()
    case.claim(case.one, amount=7)
    case.backups.restore(backup)
    # The other worker has slept through all that, and writes the change that now has the same number.
    case.claim(case.other, amount=2)
    assert case.used(case.one) == 2
    case.claim(case.one, amount=1)
    assert case.used(case.one) == case.used(case.other) == 3


def test_a_worker_notices_another_history_that_has_grown_longer_than_its_own(case: Case) -> None:
    backup = case.backups.dump()
    case.claim(case.one, amount=7)
    case.backups.restore(backup)
    for _ in range(3):
        case.claim(case.other, amount=2)
    assert case.used(case.one) == 6


def test_a_write_is_decided_on_what_the_backup_says(case: Case) -> None:
    """The worker is not asked anything in between: its first look at the restored database is a claim."""
    backup = case.backups.dump()
    case.claim(case.one, amount=1000)
    case.backups.restore(backup)
    case.claim(case.one, amount=1000)
    assert sum(row[3] for row in case.books.allocations()) == 1000


def test_owners_that_a_backup_does_not_know_are_not_taken_for_others(case: Case) -> None:
    """The rows of owners are remembered by number, and a restored database gives the same numbers again."""
    backup = case.backups.dump()
    case.claim(case.one, project="ours", user="me")
    case.backups.restore(backup)
    case.claim(case.other, project="theirs", user="they")
    consumer = case.claim(case.one, project="ours", user="me")
    assert case.books.consumers()[consumer][1:] == ("ours", "me")
    assert case.one.get(f"/allocations/{consumer}").json["project_id"] == "ours"
