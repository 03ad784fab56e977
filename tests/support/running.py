# SPDX-License-Identifier: Apache-2.0

"""A running service: real processes, a real port, a real database."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from tests.support.servers.places import free_port

PLIMSOLL = Path(sys.executable).with_name("plimsoll")
START_SECONDS = 60


class Client:
    """One keep-alive connection, as an administrator, or with these roles."""

    def __init__(self, port: int, roles: str = "admin") -> None:
        self._port = port
        self._roles = roles
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method: str, path: str, body: Any = None, version: str = "1.39") -> tuple[int, Any]:
        headers = {
            "x-auth-token": "admin",
            "x-roles": self._roles,
            "openstack-api-version": f"placement {version}",
        }
        content = None
        if body is not None:
            content = json.dumps(body)
            headers["content-type"] = "application/json"
        self._connection.request(method, path, content, headers)
        response = self._connection.getresponse()
        received = response.read()
        return response.status, json.loads(received) if received else None

    def close(self) -> None:
        self._connection.close()


class Service:
    """`plimsoll serve` with its files in this directory. It can be killed and restarted.

    It uses the database at a URL, or a SQLite file in its directory.
    """

    def __init__(self, directory: Path, workers: int = 1, database: str | None = None) -> None:
        self.directory = directory
        self.workers = workers
        self.database = database
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: list[Client] = []

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        if "PYTHONPATH" in clean:  # the service runs in another directory
            paths = clean["PYTHONPATH"].split(os.pathsep)
            clean["PYTHONPATH"] = os.pathsep.join(str(Path(each).resolve()) for each in paths)
        settings = {
            "OS_PLACEMENT_CONFIG_DIR": str(self.directory),
            "OS_DEFAULT__STATE_PATH": str(self.directory),
            "OS_API__AUTH_STRATEGY": "noauth2",
        }
        settings["OS_PLACEMENT_DATABASE__CONNECTION"] = (
            self.database or f"sqlite:///{self.directory}/plimsoll.sqlite"
        )
        settings["OS_PLACEMENT_DATABASE__SYNC_ON_STARTUP"] = "true"
        return clean | settings

    def serve_command(self) -> list[str]:
        """Return the command that starts the service."""
        return [str(PLIMSOLL), "serve", "--port", str(self.port), "--workers", str(self.workers)]

    def start(self) -> Self:
        (self.directory / "placement.conf").touch()
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.serve_command(),
                env=self.environment,
                cwd=self.directory,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._responds():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        self._close_clients()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
            self._process = None

    @property
    def pid(self) -> int:
        """The pid of the supervisor."""
        assert self._process is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """True if the service has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def worker_pids(self) -> list[int]:
        """Return the pids of the workers, without Python's resource tracker."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
        return [pid for pid, line in lines.items() if b"resource_tracker" not in line]

    def signal(self, *signals: signal.Signals) -> int:
        """Send these signals in order, wait for the service to end, and return its exit status."""
        assert self._process is not None
        for each in signals:
            self._process.send_signal(each)
            time.sleep(0.05)
        status = self._process.wait(60)
        self._process = None
        return status

    def kill(self) -> None:
        """Send SIGKILL to the supervisor and all workers."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        self._process = None

    def _close_clients(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()

    def __enter__(self) -> Self:
        return self if self._process is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def client(self, roles: str = "admin") -> Client:
        """Return a new connection, which is closed by `stop` at the latest."""
        client = Client(self.port, roles)
        self._clients.append(client)
        return client

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PLIMSOLL), *arguments],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def log(self) -> str:
        return (self.directory / "log").read_text()

    def _responds(self) -> bool:
        try:
            status, _ = self.client().call("GET", "/")
            return status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            self._close_clients()
