# SPDX-License-Identifier: Apache-2.0

"""A running service: real processes, a real port, a real database."""

from __future__ import annotations

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
    """One keep-alive connection, as an administrator."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method: str, path: str, body: Any = None, version: str = "1.39") -> tuple[int, Any]:
        headers = {"x-auth-token": "admin", "openstack-api-version": f"placement {version}"}
        content = None
        if body is not None:
            content = json.dumps(body)
            headers["content-type"] = "application/json"
        self._connection.request(method, path, content, headers)
        answer = self._connection.getresponse()
        read = answer.read()
        return answer.status, json.loads(read) if read else None

    def close(self) -> None:
        self._connection.close()


class Service:
    """`plimsoll serve` with this directory for its files. It can be killed, and started again.

    It runs on the database of a URL, or on a SQLite file in its directory.
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

    def serving(self) -> list[str]:
        """The command that serves."""
        return [str(PLIMSOLL), "serve", "--port", str(self.port), "--workers", str(self.workers)]

    def start(self) -> Self:
        (self.directory / "placement.conf").touch()
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.serving(),
                env=self.environment,
                cwd=self.directory,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)
        return self

    def stop(self) -> None:
        self._hang_up()
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
            self._process = None

    @property
    def pid(self) -> int:
        """Of the process that has started the workers."""
        assert self._process is not None
        return self._process.pid

    def workers_now(self) -> list[int]:
        """The worker processes, but not the one that Python starts to clean up after them."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        lines = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
        return [pid for pid, line in lines.items() if b"resource_tracker" not in line]

    def signal(self, *signals: signal.Signals) -> int:
        """Sends these signals one after the other, and waits for the end of the service: its exit status."""
        assert self._process is not None
        for each in signals:
            self._process.send_signal(each)
            time.sleep(0.05)
        status = self._process.wait(60)
        self._process = None
        return status

    def kill(self) -> None:
        """kill -9 of the whole service, workers and all."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        self._process = None

    def _hang_up(self) -> None:
        for client in self._clients:
            client.close()
        self._clients.clear()

    def __enter__(self) -> Self:
        return self if self._process is not None else self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def client(self) -> Client:
        """A connection of its own; it is closed with the service at the latest."""
        client = Client(self.port)
        self._clients.append(client)
        return client

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(PLIMSOLL), *words],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def log(self) -> str:
        return (self.directory / "log").read_text()

    def _answers(self) -> bool:
        try:
            status, _ = self.client().call("GET", "/")
            return status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            self._hang_up()
