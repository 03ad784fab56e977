# SPDX-License-Identifier: Apache-2.0

"""The servers that tests stand on can be stopped, killed and paused, lose nothing, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import SERVERS, need
from tests.support.servers import GaleraCluster, Missing, Server, programs
from tests.support.servers.processes import family
from tests.support.waiting import PATIENCE, eventually


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    need(SERVERS[request.param])
    with SERVERS[request.param]() as server:
        server.create_database("kept")
        server.run_sql("CREATE TABLE t (a INTEGER)", database="kept")
        yield server


@pytest.fixture
def running(server: Server) -> Iterator[Server]:
    yield server
    if not server.is_running:
        server.start()


def rows(server: Server, database: str = "kept") -> set[int]:
    return {row[0] for row in server.run_sql("SELECT a FROM t", database=database)}


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_what_was_committed_is_there_after_a_stop_and_after_a_kill(running: Server) -> None:
    place = running.url("kept")
    for number, end in enumerate((running.stop, running.kill)):
        running.run_sql(f"INSERT INTO t VALUES ({number})", database="kept")
        end()
        assert not running.answers()
        running.start()
        assert number in rows(running)
    assert running.url("kept") == place


def test_a_kill_spares_no_worker(running: Server) -> None:
    connection = running.connect("kept")
    workers = family(running.pid)
    running.kill()
    assert eventually(lambda: not any(exists(pid) for pid in workers))
    with pytest.raises(Exception, match=r".*"):
        connection.cursor().execute("SELECT 1")
    connection.close()


def test_a_paused_server_answers_nobody_until_it_is_resumed(running: Server) -> None:
    connection, answered = running.connect("kept"), threading.Event()

    def ask() -> None:
        connection.cursor().execute("SELECT 1")
        answered.set()

    running.pause()
    asking = threading.Thread(target=ask)
    asking.start()
    assert not answered.wait(0.3)
    running.resume()
    assert answered.wait(PATIENCE)
    asking.join()
    connection.close()


def test_a_copy_of_a_database_has_its_tables_and_rows_and_is_apart_from_it(running: Server) -> None:
    running.create_database("original")
    running.run_sql("CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1)", database="original")
    running.create_database("copy", like="original")
    running.run_sql("INSERT INTO t VALUES (2)", database="copy")
    assert rows(running, "copy") == {1, 2}
    assert rows(running, "original") == {1}
    for name in ("original", "copy"):
        running.drop_database(name)


def test_a_database_is_dropped_whoever_is_connected_to_it(running: Server) -> None:
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


DIES_WITHOUT_A_WORD = """
import os, signal, sys
from tests.support.databases import SERVERS
server = SERVERS[sys.argv[1]](durable=False).start()
print(server.pid, server.directory, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("engine", SERVERS)
def test_a_server_does_not_outlive_the_tests_that_were_killed(engine: str) -> None:
    need(SERVERS[engine])
    command = [sys.executable, "-c", DIES_WITHOUT_A_WORD, engine]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    pid, directory = done.stdout.split()
    assert eventually(lambda: not exists(int(pid)))
    assert eventually(lambda: not Path(directory).exists())


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(Missing, match="placement-launcher is not installed"):
        programs.find("placement-launcher", "/usr/lib/*/bin")


def test_a_server_does_not_run_as_root(running: Server) -> None:
    assert Path(f"/proc/{running.pid}").stat().st_uid != 0


def test_a_node_of_a_cluster_that_was_killed_comes_back_and_has_what_it_missed() -> None:
    need(GaleraCluster)
    with GaleraCluster(durable=False) as cluster:
        cluster.create_database("kept")
        cluster.run_sql("CREATE TABLE t (a INTEGER PRIMARY KEY)", database="kept")
        cluster.nodes[1].kill()
        cluster.wait_until_synced()
        cluster.nodes[2].run_sql("INSERT INTO t VALUES (1)", database="kept")
        cluster.start()
        assert rows(cluster.nodes[1]) == {1}
        cluster.kill()
        cluster.start()
        assert [rows(node) for node in cluster.nodes] == [{1}] * 3
