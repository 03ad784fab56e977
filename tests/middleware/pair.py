# SPDX-License-Identifier: Apache-2.0

"""Start the reference and Plimsoll as real servers with the same placement.conf, each with its own log."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.running import PLIMSOLL
from tests.support.servers.places import free_port

ROOT = Path(__file__).resolve().parents[2]
GUNICORN = ROOT / ".venv-reference" / "bin" / "gunicorn"
START_SECONDS = 60
LOG_SECONDS = 20

REFERENCE_APPLICATION = "from placement.wsgi.api import application\n"
ADMIN = {"x-auth-token": "admin:team", "openstack-api-version": "placement 1.39"}


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


class Running:
    """One service in a directory of its own, with a placement.conf and a log."""

    def __init__(self, directory: Path, settings: str, command: list[str], port: int) -> None:
        self.directory = directory
        self.port = port
        self.log_file = directory / "placement.log"
        directory.mkdir(exist_ok=True)
        database = f"sqlite:///{directory}/placement.sqlite"
        (directory / "placement.conf").write_text(
            f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = {database}\n"
            f"sync_on_startup = true\n{settings.replace('DIRECTORY', str(directory))}"
        )
        clean = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
        with (directory / "output").open("wb") as output:
            self._process = subprocess.Popen(
                command,
                env={**clean, "OS_PLACEMENT_CONFIG_DIR": str(directory)},
                cwd=directory,
                stdout=output,
                stderr=output,
            )

    def send(self, method: str, path: str, headers: Mapping[str, str] = ADMIN, body: bytes = b"") -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body or None, dict(headers))
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, received, response.read())
        finally:
            connection.close()

    def lines(self, about: str, count: int = 1) -> list[str]:
        """Wait for `count` log lines that contain this text, and return them. A line may be written after the response."""
        deadline = time.monotonic() + LOG_SECONDS
        while True:
            text = self.log_file.read_text() if self.log_file.exists() else ""
            found = [line for line in text.splitlines() if about in line]
            if len(found) >= count or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.send("GET", "/")
            except (OSError, http.client.HTTPException):
                assert self._process.poll() is None, self.output()
                assert time.monotonic() < deadline, self.output()
                time.sleep(0.05)
            else:
                return

    def stop(self) -> int:
        self._process.terminate()
        return self._process.wait(60)

    def output(self) -> str:
        return (self.directory / "output").read_text()


@dataclass(frozen=True, slots=True)
class Pair:
    reference: Running
    plimsoll: Running

    def send(
        self, method: str, path: str, headers: Mapping[str, str] = ADMIN, body: bytes = b""
    ) -> tuple[Reply, Reply]:
        return self.reference.send(method, path, headers, body), self.plimsoll.send(
            method, path, headers, body
        )


@contextlib.contextmanager
def side_by_side(
    directory: Path, settings: str, theirs: str = REFERENCE_APPLICATION, ours: Sequence[str] = ()
) -> Iterator[Pair]:
    """Run both with these sections in placement.conf, in which DIRECTORY is replaced by the directory of each.

    `theirs` is the source of the module that gunicorn serves, `ours` are options of `plimsoll serve`.
    """
    ports = free_port(), free_port()
    (directory / "reference").mkdir(exist_ok=True)
    (directory / "reference" / "served.py").write_text(theirs)
    gunicorn = [str(GUNICORN), "--worker-class", "gthread", "--threads", "2", "--log-level", "warning"]
    gunicorn += ["--bind", f"127.0.0.1:{ports[0]}", "served:application"]
    plimsoll = [str(PLIMSOLL), "serve", "--port", str(ports[1]), *ours]
    with contextlib.ExitStack() as stack:
        reference = Running(directory / "reference", settings, gunicorn, ports[0])
        stack.callback(reference.stop)
        plimsoll_service = Running(directory / "plimsoll", settings, plimsoll, ports[1])
        stack.callback(plimsoll_service.stop)
        reference.wait()
        plimsoll_service.wait()
        yield Pair(reference, plimsoll_service)


_OWN = (
    (re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?\.\d{3} \d+ "), "TIME PROCESS "),
    (re.compile(r" __call__ \S+/request_?log\.py:\d+$"), " PLACE"),
    (re.compile(r"len: [1-9]\d*"), "len: SOME"),
)


def without_own_values(line: str, request_id: str) -> str:
    """Replace the parts of a log line that differ between services: time, process, source line, length, request id."""
    line = line.replace(request_id, "ID")
    for form, name in _OWN:
        line = form.sub(name, line)
    return line
