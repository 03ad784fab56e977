# SPDX-License-Identifier: Apache-2.0

"""Private servers can be stopped, killed and paused, keep their data, and are removed completely."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import SERVERS, need
from tests.support.servers import Missing, Server, programs
from tests.support.servers.processes import process_tree
from tests.support.waiting import TIMEOUT_SECONDS, eventually


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    need(SERVERS[request.param])
    with SERVERS[request.param]() as server:
        server.create_database("test")
        server.run_sql("CREATE TABLE t (a INTEGER)", database="test")
        yield server


@pytest.fixture
def running(server: Server) -> Iterator[Server]:
    yield server
    if not server.is_running:
        server.start()


def rows(server: Server, database: str = "test") -> set[int]:
    return {row[0] for row in server.run_sql("SELECT a FROM t", database=database)}


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_committed_rows_survive_a_stop_and_a_kill(running: Server) -> None:
    url = running.url("test")
    for number, end in enumerate((running.stop, running.kill)):
        running.run_sql(f"INSERT INTO t VALUES ({number})", database="test")
        end()
        assert not running.accepts_connections()
        running.start()
        assert number in rows(running)
    assert running.url("test") == url


def test_a_kill_ends_all_workers(running: Server) -> None:
    connection = running.connect("test")
    workers = process_tree(running.pid)
    running.kill()
    assert eventually(lambda: not any(exists(pid) for pid in workers))
    with pytest.raises(Exception, match=r".*"):
        connection.cursor().execute("SELECT 1")
    connection.close()


def test_a_paused_server_does_not_respond_until_it_is_resumed(running: Server) -> None:
    connection, finished = running.connect("test"), threading.Event()

    def execute() -> None:
        connection.cursor().execute("SELECT 1")
        finished.set()

    running.pause()
    thread = threading.Thread(target=execute)
    thread.start()
    assert not finished.wait(0.3)
    running.resume()
    assert finished.wait(TIMEOUT_SECONDS)
    thread.join()
    connection.close()


def test_a_copy_of_a_database_has_its_tables_and_rows_and_is_separate(running: Server) -> None:
    running.create_database("original")
    running.run_sql("CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)", database="original")
    running.create_database("copy", like="original")
    running.run_sql("INSERT INTO t VALUES (2)", database="copy")
    assert rows(running, "copy") == {1, 2}
    assert rows(running, "original") == {1}
    for name in ("original", "copy"):
        running.drop_database(name)


def test_a_database_with_open_connections_is_dropped(running: Server) -> None:
    running.create_database("used")
    running.run_sql("CREATE TABLE t (a INTEGER)", database="used")
    connection = running.connect("used")
    cursor = connection.cursor()
    cursor.execute("BEGIN")
    cursor.execute("SELECT * FROM t")
    running.drop_database("used")
    running.create_database("used")
    running.drop_database("used")
    connection.close()


START_SERVER_AND_DIE = """
import os, signal, sys
from tests.support.databases import SERVERS
server = SERVERS[sys.argv[1]](durable=False).start()
print(server.pid, server.directory, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("engine", SERVERS)
def test_a_server_ends_when_its_tests_are_killed(engine: str) -> None:
    need(SERVERS[engine])
    command = [sys.executable, "-c", START_SERVER_AND_DIE, engine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    pid, directory = done.stdout.split()
    assert eventually(lambda: not exists(int(pid)))
    assert eventually(lambda: not Path(directory).exists())


def test_a_missing_program_is_named() -> None:
    with pytest.raises(Missing, match="placement-launcher is not installed"):
        programs.find("placement-launcher", "/usr/lib/*/bin")


def test_a_server_does_not_run_as_root(running: Server) -> None:
    assert Path(f"/proc/{running.pid}").stat().st_uid != 0
