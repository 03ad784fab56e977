# SPDX-License-Identifier: Apache-2.0

"""The two compared services, each a real HTTP server with its own database.

A server is started on a fresh database, is called over keep-alive connections, and is stopped by its process id. Both
run with default settings, except noauth2.
"""

import contextlib
import http.client
import itertools
import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.sites import Site, upstream_url
from tests.differential.database_state import StateReader
from tests.differential.requests import Request
from tests.differential.state import State
from tests.support.servers.places import free_port

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60
NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Response:
    """A response; status 0 means that the server closed the connection without one."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """One running service: its process, its connections and its database."""

    name: str

    def __init__(self, site: Site, directory: Path, workers: int = 1, database: str | None = None) -> None:
        self._site = site
        self._directory = directory
        self._workers = workers
        directory.mkdir(parents=True, exist_ok=True)
        self._database = database or f"{self.name}_{os.getpid()}_{next(NUMBERS)}"
        # With the usual charset=utf8 the reference cannot send some characters to MariaDB.
        self.url = upstream_url(site, self._database, charset="utf8mb4")
        self._port = free_port()
        self._connections: list[http.client.HTTPConnection] = []
        self._next_connection = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._state_reader: StateReader | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def sync(self) -> list[str]:
        """Return the command that creates the tables."""
        raise NotImplementedError

    @classmethod
    def create_template(cls, site: Site, directory: Path) -> None:
        """Create the template database, with tables and without data, for servers of this kind."""
        template = cls(site, directory, database=cls.template_name())
        template.write_settings()
        site.create_database(cls.template_name())
        subprocess.run(template.sync(), env=template.environment(), cwd=ROOT, check=True)

    def prepare(self) -> None:
        self.write_settings()
        self._site.create_database(self._database, like=self.template_name())

    def write_settings(self) -> None:
        (self._directory / "placement.conf").write_text(
            f"[api]\nauth_strategy = noauth2\n[placement_database]\nconnection = {self.url}\n"
        )

    @classmethod
    def template_name(cls) -> str:
        return f"{cls.name}_model"

    def environment(self) -> dict[str, str]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("OS_")}
        return clean | {
            "OS_PLACEMENT_CONFIG_DIR": str(self._directory),
            "OS_PLACEMENT_DATABASE__CONNECTION": self.url,
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
        self._state_reader = StateReader(self.url)
        self._connections = [self._connect() for _ in range(self._workers)]

    def stop(self) -> None:
        for connection in self._connections:
            connection.close()
        if self._state_reader is not None:
            self._state_reader.close()
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def remove(self) -> None:
        """Drop the database."""
        self._site.drop_database(self._database)

    def send(self, request: Request) -> Response:
        """Send over the next connection; a failed connection returns a response with status 0."""
        self._next_connection = (self._next_connection + 1) % len(self._connections)
        connection = self._connections[self._next_connection]
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
            self._connections[self._next_connection] = self._connect()
            return Response(0, {}, repr(error).encode())
        return Response(response.status, {key.lower(): value for key, value in response.getheaders()}, body)

    def state(self) -> State:
        assert self._state_reader is not None, "the server has not been started"
        return self._state_reader.read()

    def verify(self) -> str | None:
        """Return the faults that the service's own database check finds, or None."""
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
        return {"PYTHONHASHSEED": "0"} | super().environment()  # some responses depend on the hash seed

    def sync(self) -> list[str]:
        return [str(self.bin / "placement-manage"), "db", "sync"]


class Plimsoll(Server):
    """Plimsoll, started by `plimsoll serve`."""

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
def running(*servers: Server, keep: bool = False) -> Iterator[None]:
    """Start all servers at the same time, so that rows written at start have nearly equal times."""
    with contextlib.ExitStack() as stack:
        for server in servers:
            if not keep:
                stack.callback(server.remove)
            stack.callback(server.stop)
            server.prepare()
        for server in servers:
            server.launch()
        for server in servers:
            server.connect()
        yield
