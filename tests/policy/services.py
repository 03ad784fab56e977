# SPDX-License-Identifier: Apache-2.0

"""Start both services with the same policy files, each on its own SQLite database."""

from __future__ import annotations

import http.client
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.support.servers.places import free_port

ROOT = Path(__file__).resolve().parents[2]
OURS, THEIRS = ROOT / ".venv" / "bin", ROOT / ".venv-reference" / "bin"
START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Service:
    """One running service. `options` are written to the section [oslo_policy] of its placement.conf."""

    def __init__(self, name: str, directory: Path, options: Mapping[str, object]) -> None:
        self.name = name
        self._directory = directory / name
        self._directory.mkdir()
        self._port = free_port()
        written = "".join(f"{option} = {value}\n" for option, value in options.items())
        (self._directory / "placement.conf").write_text(
            "[api]\nauth_strategy = noauth2\n"
            f"[placement_database]\nconnection = sqlite:///{self._directory}/db.sqlite\nsync_on_startup = true\n"
            f"[oslo_policy]\n{written}"
        )
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the process; `connect` waits for it."""
        if self.name.startswith("reference"):
            command = [
                str(THEIRS / "gunicorn"),
                "--workers",
                "1",
                "--worker-class",
                "gthread",
                "--threads",
                "1",
            ]
            command += [
                "--keep-alive",
                "300",
                "--bind",
                f"127.0.0.1:{self._port}",
                "placement.wsgi.api:application",
            ]
        else:
            command = [str(OURS / "plimsoll"), "serve", "--port", str(self._port)]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        with (self._directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env=clean | {"OS_PLACEMENT_CONFIG_DIR": str(self._directory)},
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )

    def connect(self) -> Self:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while True:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
            try:
                self.send(Request("GET", "/"), {})
            except OSError:
                assert self._process.poll() is None and time.monotonic() < deadline, self.log()
                time.sleep(0.05)
            else:
                return self

    def send(self, request: Request, headers: Mapping[str, str]) -> int:
        content = b"{}" if request.method in ("PUT", "POST") else None
        sent = {"openstack-api-version": "placement 1.39", "content-type": "application/json", **headers}
        self._connection.request(request.method, request.path, content, sent)
        response = self._connection.getresponse()
        response.read()
        return response.status

    def log(self) -> str:
        return (self._directory / "log").read_text(errors="replace")

    def stop(self) -> None:
        if self._process is not None:
            self._connection.close()
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
