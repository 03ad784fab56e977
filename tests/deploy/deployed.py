# SPDX-License-Identifier: Apache-2.0

"""A service that an example of deploy/ starts: a command, its port, its directory and its log."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.running import Client
from tests.support.servers.processes import Guard, kill_process_tree, process_tree

ROOT = Path(__file__).parents[2]
SECONDS = 120

PACKAGES = (str(ROOT / "src"), sysconfig.get_path("purelib"))
"""The directories of Plimsoll and of its dependencies, for PYTHONPATH."""


def settings(directory: Path, database: str | None = None, more: str = "") -> Path:
    """Write a placement.conf for a test into this directory."""
    connection = database or f"sqlite:///{directory}/placement.sqlite"
    file = directory / "placement.conf"
    file.write_text(
        f"[DEFAULT]\nstate_path = {directory}\n[api]\nauth_strategy = noauth2\n"
        f"[placement_database]\nconnection = {connection}\nsync_on_startup = true\n{more}"
    )
    return file


def environment(directory: Path) -> dict[str, str]:
    """Return the environment of a service with its placement.conf in this directory."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
    return clean | {"OS_PLACEMENT_CONFIG_DIR": str(directory), "PYTHONPATH": os.pathsep.join(PACKAGES)}


class Deployed:
    """A command that serves on a port until a signal stops it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        port: int,
        directory: Path,
        environment: Mapping[str, str],
        is_ready: Callable[[str], bool] = lambda log: True,
    ) -> None:
        """`is_ready` gets the log since the start and returns True if all processes are ready."""
        self.command = [str(argument) for argument in command]
        self.port = port
        self.directory = directory
        self.environment = dict(environment)
        self._is_ready = is_ready
        self._log_before = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def processes(self) -> list[int]:
        return process_tree(self.pid)

    def launch(self) -> Self:
        self._log_before = self._log.stat().st_size if self._log.exists() else 0
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._guard = Guard(self._process.pid, self.directory)
        return self

    def start(self) -> Self:
        self.launch()
        deadline = time.monotonic() + SECONDS
        while not (self._is_serving() and self._is_ready(self.log())):
            assert self.has_ended() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)
        return self

    def has_ended(self) -> int | None:
        assert self._process is not None
        return self._process.poll()

    def wait(self) -> int:
        """Wait until the command ends; return its exit status."""
        assert self._process is not None
        status = self._process.wait(SECONDS)
        self._dismiss_guard()
        return status

    def stop(self) -> int:
        """Send SIGTERM, as a service manager does, and wait."""
        assert self._process is not None
        self._process.terminate()
        return self.wait()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            kill_process_tree(self._process.pid)
            self._process.wait(SECONDS)
        self._dismiss_guard()

    def _dismiss_guard(self) -> None:
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.kill()
            raise

    def __exit__(self, *_: object) -> None:
        self.kill()

    @contextlib.contextmanager
    def client(self) -> Iterator[Client]:
        client = Client(self.port)
        try:
            yield client
        finally:
            client.close()

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request on a new connection, which any of the processes may accept."""
        with self.client() as client:
            return client.call(method, path, body)

    def log(self) -> str:
        """Return the log since the last start."""
        return self._log.read_bytes()[self._log_before :].decode(errors="replace")

    @property
    def _log(self) -> Path:
        return self.directory / "log"

    def _is_serving(self) -> bool:
        try:
            return self.call("GET", "/")[0] == 200
        except (OSError, http.client.HTTPException):
            return False
