# SPDX-License-Identifier: Apache-2.0

"""The supervisor and its workers, as real processes that serve a small application."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.server.limits import Limits
from plimsoll.server.worker_process import WorkerProcess
from tests.support.waiting import eventually

ROOT = str(Path(__file__).parents[3])  # the workers import a module of the tests

APPLICATION = """
import os, time
from tests.support.wsgi import PlainApplication

def make(runtime, worker):
    def application(environ, start_response):
        if environ["PATH_INFO"] == "/slow":
            time.sleep(1)
        if environ["PATH_INFO"] == "/hang":
            while True:
                pass
        body = str(os.getpid()).encode()
        start_response("200 OK", [("content-length", str(len(body)))])
        return [body]
    return PlainApplication(application)

def fail(runtime, worker):
    raise RuntimeError("nothing to serve")

def make_three_times(runtime, worker):
    with open(__file__ + ".starts", "a+") as starts:
        starts.write("x")
        starts.seek(0)
        if len(starts.read()) > 3:
            fail(runtime, worker)
    return make(runtime, worker)
"""

SERVE = """
import logging, os, sys
from plimsoll.server.limits import Limits
from plimsoll.server.sockets import Listen
from plimsoll.server.supervisor import run
listen = Listen("127.0.0.1", int(sys.argv[1]), int(sys.argv[2]))
logging.basicConfig(level="INFO")
sys.executable = os.environ.get("PYTHON_OF_WORKERS", sys.executable)
run(listen, Limits(threads=4, worker_timeout=1), lambda: print("ready", flush=True), "small:" + sys.argv[3])
"""


@dataclass
class Service:
    process: subprocess.Popen[str]
    port: int

    def get(self, path: str = "/") -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as response:
            return int(response.read())

    def children(self) -> list[int]:
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in task.read_text().split()] if task.exists() else []

    def workers(self) -> list[int]:
        """Return the worker processes: all children except Python's resource tracker."""
        lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.children()}
        return [pid for pid, line in lines.items() if b"resource_tracker" not in line]


Start = Callable[..., Service]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    (tmp_path / "small.py").write_text(APPLICATION)
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "python").chmod(0o755)
    started: list[Service] = []

    def start(workers: int = 1, factory: str = "make") -> Service:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        search = os.pathsep.join(filter(None, [str(tmp_path), ROOT, os.environ.get("PYTHONPATH")]))
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(port), str(workers), factory],
            env={**os.environ, "PYTHONPATH": search, "PYTHON_OF_WORKERS": str(tmp_path / "python")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        service = Service(process, port)
        started.append(service)
        if factory != "fail":
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        return service

    yield start
    for service in started:
        children = service.children()
        service.process.kill()
        for child in filter(is_running, children):
            os.kill(child, signal.SIGKILL)
        service.process.communicate(timeout=10)


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def is_serving(service: Service) -> bool:
    try:
        return service.get() > 0
    except OSError:
        return False


def test_ready_is_reported_when_the_port_serves(start: Start) -> None:
    service = start()
    assert service.workers() == [service.get()]


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("whom", ["the parent", "all at once"])
def test_a_request_in_progress_is_finished_before_the_stop(
    start: Start, stop: signal.Signals, whom: str
) -> None:
    service = start()
    service.get()
    statuses: list[int] = []
    client = threading.Thread(target=lambda: statuses.append(service.get("/slow")))
    client.start()
    time.sleep(0.3)

    if whom == "the parent":
        service.process.send_signal(stop)
    else:
        os.killpg(service.process.pid, stop)

    assert service.process.wait(timeout=15) == 0
    client.join()
    assert len(statuses) == 1


def test_a_worker_that_dies_is_replaced(start: Start) -> None:
    service = start()
    first = service.get()
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: is_serving(service) and service.get() != first)


def test_the_start_of_a_worker_is_retried(start: Start, tmp_path: Path) -> None:
    service = start(workers=2)
    first, _ = workers = service.workers()
    (tmp_path / "python").rename(tmp_path / "elsewhere")
    os.kill(first, signal.SIGKILL)
    assert service.process.stderr is not None
    for line in service.process.stderr:
        if "A worker cannot start: [Errno 2]" in line:
            break
    (tmp_path / "elsewhere").rename(tmp_path / "python")
    assert eventually(lambda: len(set(service.workers()) - set(workers)) == 1)
    assert is_serving(service)


def test_a_reload_that_fails_halfway_is_logged_as_such(start: Start) -> None:
    service = start(workers=2, factory="make_three_times")
    first, second = service.workers()
    service.process.send_signal(signal.SIGHUP)
    assert service.process.stderr is not None
    for line in service.process.stderr:
        if "Reloaded 1 of 2 workers" in line:
            break
        assert "Not reloaded" not in line
    assert "nothing to serve" in line
    remaining = service.workers()
    assert len(remaining) == 2
    assert second in remaining
    assert first not in remaining


def test_a_worker_needs_no_directory_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        WorkerProcess("small:make", listening, Limits()).kill()


def test_a_worker_that_cannot_be_started_leaves_no_open_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        before = os.listdir("/proc/self/fd")
        with pytest.raises(FileNotFoundError):
            WorkerProcess("small:make", listening, Limits())
        assert os.listdir("/proc/self/fd") == before


def test_a_worker_that_hangs_is_replaced_and_its_request_and_stack_are_logged(start: Start) -> None:
    service = start()
    first = service.get()
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.sendall(b"GET /hang?why HTTP/1.1\r\nHost: h\r\n\r\n")
        assert client.recv(1) == b""
    assert eventually(lambda: is_serving(service) and service.get() != first)
    service.process.terminate()
    _, log = service.process.communicate(timeout=20)
    assert f"Worker {first} has sent no heartbeat for 1 s" in log
    assert f"Worker {first}: request in progress: GET /hang?why" in log
    assert "in application" in log  # the function that hangs


def test_the_log_has_the_signal_that_ended_a_worker_and_the_stop_of_the_service(start: Start) -> None:
    service = start()
    first = service.get()
    os.kill(first, signal.SIGKILL)
    assert eventually(lambda: is_serving(service) and service.get() != first)
    service.process.terminate()
    _, log = service.process.communicate(timeout=20)
    assert (
        f"Worker {first} was ended by signal 9 (SIGKILL, which the kernel sends when memory runs out" in log
    )
    assert log.index("Stopping: requests in progress have 60 s to finish") < log.index("Stopped")


def test_workers_do_not_outlive_the_service(start: Start) -> None:
    service = start(workers=2)
    workers = service.workers()
    assert len(workers) == 2
    service.process.send_signal(signal.SIGKILL)
    service.process.wait()
    assert eventually(lambda: not any(map(is_running, workers)))


def test_an_application_that_cannot_be_loaded_ends_the_service_with_1_and_the_reason(start: Start) -> None:
    service = start(factory="fail")
    _, errors = service.process.communicate(timeout=30)
    assert service.process.returncode == 1
    assert "RuntimeError: nothing to serve" in errors


@pytest.fixture
def _many_files() -> Iterator[None]:
    """Raise the limit of open files during a test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != soft < 2000:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("_many_files")
def test_idle_connections_do_not_keep_others_out(start: Start) -> None:
    service = start()
    idle = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(1100)]
    assert service.get() > 0
    for connection in idle:
        connection.close()
