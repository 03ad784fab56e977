# SPDX-License-Identifier: Apache-2.0

"""A database is restored from a backup under running workers. They detect it and load the restored state.

The change log in memory and the restored one may have the same length and different contents.
"""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import make_url

from plimsoll.ledger.restores import EPOCH_THREAD
from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer, prepare_database
from tests.faults.requests import claim, new_uuid
from tests.support import databases as on
from tests.support.api import Api, api
from tests.support.servers import programs
from tests.support.servers.postgresql import DIRECTORIES
from tests.support.waiting import eventually


class Backups:
    """Dumps and restores one database, as its operator does. Workers may be connected, but get no request."""

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
                options = ("--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction", "--output=/dev/null")
                self._run("psql", *options, f"--file={file}", *self._address())
            case _:
                self._run("mariadb", *self._address(), f"--execute=source {file}")

    def _address(self) -> list[str]:
        url = self._url
        if url.get_backend_name() == "postgresql":
            return [f"--dbname=postgresql://{url.username}@{url.host}:{url.port}/{url.database}"]
        where = [f"--host={url.host}", f"--port={url.port}", f"--user={url.username}"]
        return ["--no-defaults", *where, str(url.database)]

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(programs.find(program, *DIRECTORIES)), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


def _copy(source: str, target: str) -> None:
    with closing(sqlite3.connect(source)) as read, closing(sqlite3.connect(target)) as written:
        read.backup(written)


Ready = Callable[[Path], AbstractContextManager[str]]
"""Returns the URL of a database that a service can start on. The file of SQLite is created in this directory."""


@dataclass
class Case:
    """Two workers with separate memory on one database."""

    one: Api
    other: Api
    backups: Backups
    database_rows: DatabaseRows
    host: str

    def used(self, worker: Api) -> int:
        usages = worker.get(f"/resource_providers/{self.host}/usages")
        assert usages.status == 200, usages.body
        return int(usages.json["usages"]["VCPU"])

    def claim(self, worker: Api, project: str = "p", user: str = "u", amount: int = 1) -> str:
        consumer = new_uuid()
        body = claim(self.host, amount=amount, project=project, user=user)
        response = worker.put(f"/allocations/{consumer}", body)
        assert response.status == 204, response.body
        return consumer


@pytest.fixture(scope="module", params=on.selected_engines())
def ready(request: pytest.FixtureRequest) -> Iterator[Ready]:
    """New databases of each engine, including SQLite."""
    if request.param == "sqlite":
        yield sqlite_file
        return
    with on.SERVERS[request.param](durable=False) as server:
        private_server = PrivateServer(server)
        yield lambda _: private_server.database()


@contextmanager
def sqlite_file(directory: Path) -> Iterator[str]:
    url = f"sqlite:///{directory / 'placement.sqlite'}"
    prepare_database(url)
    yield url


@pytest.fixture
def case(ready: Ready, tmp_path: Path) -> Iterator[Case]:
    with ready(tmp_path) as url, api(url) as one, api(url) as other:
        host = one.host(new_uuid(), VCPU=1000)
        database_rows = DatabaseRows(url)
        yield Case(one, other, Backups(url, tmp_path), database_rows, host)
        assert eventually(lambda: all(thread.name != EPOCH_THREAD for thread in threading.enumerate()))
        database_rows.assert_consistent()
        database_rows.close()


def test_a_worker_that_is_ahead_of_the_restored_backup_loads_it(case: Case) -> None:
    claimed_before = case.claim(case.one)
    backup = case.backups.dump()
    lost = [case.claim(case.one) for _ in range(3)]
    assert case.used(case.one) == case.used(case.other) == 4
    case.backups.restore(backup)
    assert case.used(case.one) == case.used(case.other) == 1
    assert case.one.get(f"/allocations/{lost[0]}").json["allocations"] == {}
    assert case.one.get(f"/allocations/{claimed_before}").json["allocations"] != {}
    case.claim(case.one)
    assert case.used(case.one) == case.used(case.other) == 2


def test_a_worker_detects_another_change_log_of_the_same_length(case: Case) -> None:
    backup = case.backups.dump()
    case.claim(case.one, amount=7)
    case.backups.restore(backup)
    # The other worker had no request meanwhile. It writes a change with the same number as the lost one.
    case.claim(case.other, amount=2)
    assert case.used(case.one) == 2
    case.claim(case.one, amount=1)
    assert case.used(case.one) == case.used(case.other) == 3


def test_a_worker_detects_another_change_log_that_is_longer_than_its_own(case: Case) -> None:
    backup = case.backups.dump()
    case.claim(case.one, amount=7)
    case.backups.restore(backup)
    for _ in range(3):
        case.claim(case.other, amount=2)
    assert case.used(case.one) == 6


def test_a_write_is_decided_on_the_restored_state(case: Case) -> None:
    """The first request to the worker after the restore is a claim."""
    backup = case.backups.dump()
    case.claim(case.one, amount=1000)
    case.backups.restore(backup)
    case.claim(case.one, amount=1000)
    assert sum(row[3] for row in case.database_rows.allocations()) == 1000


def test_owners_that_are_missing_in_the_backup_are_not_confused_with_others(case: Case) -> None:
    """The ids of owners are cached, and the restored database assigns the same ids again."""
    backup = case.backups.dump()
    case.claim(case.one, project="ours", user="me")
    case.backups.restore(backup)
    case.claim(case.other, project="theirs", user="they")
    consumer = case.claim(case.one, project="ours", user="me")
    assert case.database_rows.consumers()[consumer][1:] == ("ours", "me")
    assert case.one.get(f"/allocations/{consumer}").json["project_id"] == "ours"


def test_a_restored_database_gets_another_epoch(case: Case) -> None:
    """Neither a cursor nor a revision of the lost history is valid then."""
    backup = case.backups.dump()
    case.claim(case.one, amount=7)
    lost = case.one.get("/plimsoll/v1/changes?limit=1").json
    case.backups.restore(backup)
    case.claim(case.other, amount=2)  # has the number of the lost change; the worker has no memory of that
    lost_cursor = lost["changes"][0]["cursor"]
    assert case.other.get(f"/plimsoll/v1/changes?since={lost_cursor}").status == 410
    assert case.used(case.one) == 2  # detects the restore
    assert eventually(lambda: case.one.get(f"/plimsoll/v1/changes?since={lost['revision']}").status == 410)
    for worker in (case.one, case.other):
        revision = worker.get("/plimsoll/v1/providers").json["revision"]
        assert not revision.startswith(lost["revision"].partition(":")[0])
        assert worker.get(f"/plimsoll/v1/changes?since={revision}").json["changes"] == []
    newest = case.one.get("/plimsoll/v1/changes?limit=1").json["changes"][0]
    assert (newest["operation"], newest["reload"]) == ("database.restored", True)
