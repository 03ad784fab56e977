# SPDX-License-Identifier: Apache-2.0

"""The two services under comparison, each a real HTTP server on a SQLite file of its own.

A server is started on a fresh database, answers requests over kept-alive connections, and is stopped by
its own process id. Both run with the settings that an operator gets who sets nothing but noauth2.
"""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.differential.requests import Request
from tests.differential.state import Reader, State, forget_consumer

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
EMPTY_DATABASES: dict[str, bytes] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said; status 0 means that it hung up without an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """One running service: its process, its connections and its database file."""

    name: str

    def __init__(self, directory: Path, workers: int = 1) -> None:
        self._directory = directory
        self._workers = workers
        directory.mkdir(parents=True, exist_ok=True)
        self.database = directory / "placement.db"
        self._port = free_port()
        self._connections: list[http.client.HTTPConnection] = []
        self._turn = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: Reader | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def sync(self) -> list[str]:
        """The command that creates an empty database."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Write the settings and create the empty database; the second time it is a copy."""
        (self._directory / "placement.conf").write_text(
            f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = sqlite:///{self.database}\n"
        )
        if self.name not in EMPTY_DATABASES:
            subprocess.run(self.sync(), env=self.environment(), cwd=ROOT, check=True)
            EMPTY_DATABASES[self.name] = self.database.read_bytes()
        self.database.write_bytes(EMPTY_DATABASES[self.name])

    def environment(self) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
        return clean | {
            "OS_PLACEMENT_CONFIG_DIR": str(self._directory),
            "OS_PLACEMENT_DATABASE__CONNECTION": f"sqlite:///{self.database}",
            "OS_API__AUTH_STRATEGY": "noauth2",
        }

    def launch(self) -> None:
        """Start the process; `connect` waits for it."""
        with (self._directory / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                self.command(), env=self.environment(), cwd=ROOT, stdout=log, stderr=log
            )

    def connect(self) -> None:
        self._wait()
        self._reader = Reader(self.database)
        self._connections = [self._connect() for _ in range(self._workers)]

    def stop(self) -> None:
        for connection in self._connections:
            connection.close()
        if self._reader is not None:
            self._reader.close()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def send(self, request: Request) -> Answer:
        """Send over the next connection; a connection that fails counts as an answer of status 0."""
        self._turn = (self._turn + 1) % len(self._connections)
        connection = self._connections[self._turn]
        try:
            connection.putrequest(request.method, request.target, skip_accept_encoding=True)
            for name, value in request.headers:
                connection.putheader(name, value)
            if request.body is not None:
                connection.putheader("content-length", str(len(request.body)))
            connection.endheaders(request.body or None)
            response = connection.getresponse()
            body = response.read()
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            self._connections[self._turn] = self._connect()
            return Answer(0, {}, repr(error).encode())
        return Answer(response.status, {key.lower(): value for key, value in response.getheaders()}, body)

    def state(self) -> State:
        assert self._reader is not None, "the server has not been started"
        return self._reader.read()

    def forget_consumer(self, uuid: str) -> None:
        forget_consumer(self.database, uuid)

    def verify(self) -> str | None:
        """What the service's own check of its database finds wrong, if it has one."""
        return None

    def log(self) -> str:
        return (self._directory / "server.log").read_text(errors="replace")

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)

    def _wait(self) -> None:
        assert self._process is not None, "the server has not been started"
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                probe = self._connect()
                probe.request("GET", "/")
                probe.getresponse().read()
                probe.close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"{self.name} did not start:\n{self.log()[-4000:]}")


class Reference(Server):
    """openstack-placement under gunicorn, with one thread that keeps connections alive."""

    name = "reference"
    bin = ROOT / ".venv-reference" / "bin"

    def command(self) -> list[str]:
        arguments = ["--workers", "1", "--worker-class", "gthread", "--threads", "1", "--keep-alive", "300"]
        address = ["--bind", f"127.0.0.1:{self._port}", "--log-level", "warning"]
        return [str(self.bin / "gunicorn"), *arguments, *address, "placement.wsgi.api:application"]

    def environment(self) -> dict[str, str]:
        return {"PYTHONHASHSEED": "0"} | super().environment()  # some of its answers follow the hash seed

    def sync(self) -> list[str]:
        return [str(self.bin / "placement-manage"), "db", "sync"]


class Plimsoll(Server):
    """Plimsoll as its users start it."""

    name = "plimsoll"
    bin = ROOT / ".venv" / "bin"

    def command(self) -> list[str]:
        address = ["--host", "127.0.0.1", "--port", str(self._port), "--workers", str(self._workers)]
        return [str(self.bin / "plimsoll"), "serve", *address, "--config-file", self._config()]

    def sync(self) -> list[str]:
        return [str(self.bin / "plimsoll"), "db", "sync"]

    def verify(self) -> str | None:
        check = subprocess.run(
            [self.bin / "plimsoll", "db", "verify"],
            env=self.environment(),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        return None if check.returncode == 0 else check.stdout + check.stderr

    def _config(self) -> str:
        return str(self._directory / "placement.conf")


@contextlib.contextmanager
def running(*servers: Server) -> Iterator[None]:
    """Start all of them at the same time, so that what they do at their start has the same time."""
    with contextlib.ExitStack() as stack:
        for server in servers:
            stack.callback(server.stop)
            server.prepare()
        for server in servers:
            server.launch()
        for server in servers:
            server.connect()
        yield


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
