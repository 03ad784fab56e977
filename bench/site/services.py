# SPDX-License-Identifier: Apache-2.0

"""The measured servers: the reference, Plimsoll, and one that sends ready-made responses.

Each is a group of real processes on its own port, with default settings except the database and noauth2; other settings
are given where it is started. All log to a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import psutil

from bench.client.http import HOST, Connection, UnexpectedResponse, request
from tests.support.servers.places import free_port

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / "bin"
REFERENCE_BIN = ROOT / ".venv-reference" / "bin"
START_SECONDS = 300
STOP_SECONDS = 30

TUNED = {
    "OS_WORKAROUNDS__OPTIMIZE_FOR_WIDE_PROVIDER_TREES": "true",
    "OS_PLACEMENT__MAX_ALLOCATION_CANDIDATES": "1000",
    "OS_PLACEMENT__ALLOCATION_CANDIDATES_GENERATION_STRATEGY": "breadth-first",
}
"""Settings that make the reference fast on wide trees."""


class Service:
    """A server in its own process group."""

    worker_count = 1

    def __init__(
        self, label: str, directory: Path, url: str, settings: Mapping[str, str] | None = None
    ) -> None:
        self.label = label
        self.url = url
        self._settings = dict(settings or {})
        self._directory = directory / label
        self._directory.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.ports: tuple[int, ...] = (self.port,)
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        raise NotImplementedError

    def sync(self) -> None:
        """Create or upgrade the tables."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        return clean | {
            "OS_PLACEMENT_CONFIG_DIR": str(self._directory),
            "OS_PLACEMENT_DATABASE__CONNECTION": self.url,
            "OS_API__AUTH_STRATEGY": "noauth2",
            **self._settings,
        }

    def run(self, *command: str | Path) -> None:
        (self._directory / "placement.conf").touch()
        subprocess.run(command, env=self.environment(), cwd=ROOT, check=True, capture_output=True)

    def start(self) -> Self:
        self.launch()
        self.wait()
        return self

    def launch(self) -> None:
        """Start without waiting."""
        (self._directory / "placement.conf").touch()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                env=self.environment(),
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Wait until it responds."""
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while not self._responds():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{self.label} did not start:\n{self._log.read_text()[-4000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None

    def workers(self) -> list[psutil.Process]:
        """Return all child processes except Python's resource trackers."""
        assert self._process is not None
        children = psutil.Process(self._process.pid).children(recursive=True)
        return [process for process in children if "resource_tracker" not in " ".join(process.cmdline())]

    def memory(self) -> int:
        """Return the resident bytes of the largest worker, shared libraries included."""
        return max(int(process.memory_info().rss) for process in self.workers())

    def processor_seconds(self) -> float:
        """Return the processor time of all workers."""
        return sum(map(processor_seconds_of, self.workers()))

    @property
    def _log(self) -> Path:
        return self._directory / "log"

    def _responds(self) -> bool:
        try:
            connection = Connection(self.port)
        except OSError:
            return False
        try:
            return connection.call(request("GET", "/")).status == 200
        except (OSError, UnexpectedResponse):
            return False
        finally:
            connection.close()


def _gunicorn(port: int, workers: int, threads: int, app: str) -> list[str]:
    """Return the command of gunicorn with threads and keep-alive."""
    concurrency = ["--workers", str(workers), "--worker-class", "gthread", "--threads", str(threads)]
    # No worker timeout: gunicorn must not kill a worker that is busy for minutes.
    timeouts = ["--keep-alive", "300", "--timeout", "0"]
    address = ["--bind", f"{HOST}:{port}", "--log-level", "warning"]
    return [str(REFERENCE_BIN / "gunicorn"), *concurrency, *timeouts, *address, app]


class Reference(Service):
    """openstack-placement under gunicorn: two workers with ten threads each, keep-alive."""

    worker_count = 2

    def command(self) -> list[str]:
        return _gunicorn(self.port, self.worker_count, 10, "placement.wsgi.api:application")

    def sync(self) -> None:
        self.run(REFERENCE_BIN / "placement-manage", "db", "sync")


def processor_seconds_of(process: psutil.Process) -> float:
    """Return the processor time of all threads of a process, with nanosecond resolution."""
    return sum(map(_processor_seconds, Path(f"/proc/{process.pid}/task").iterdir()))


def _processor_seconds(thread: Path) -> float:
    try:
        return int((thread / "schedstat").read_text().split()[0]) / 1e9
    except OSError:  # it has ended meanwhile
        return 0.0


class Plimsoll(Service):
    """Plimsoll, started by `plimsoll serve`."""

    def __init__(
        self,
        label: str,
        directory: Path,
        url: str,
        settings: Mapping[str, str] | None = None,
        *,
        checkout: Path = ROOT,
    ) -> None:
        super().__init__(label, directory, url, settings)
        self._checkout = checkout

    def command(self) -> list[str]:
        address = ["--host", HOST, "--port", str(self.port), "--workers", str(self.worker_count)]
        return [*self._plimsoll, "serve", *address]

    def sync(self) -> None:
        self.run(*self._plimsoll, "db", "sync")

    def environment(self) -> dict[str, str]:
        return super().environment() | {"PYTHONPATH": str(self._checkout / "src")}

    @property
    def _plimsoll(self) -> list[str]:
        return [str(BIN / "python"), "-m", "plimsoll.cli"]

    @contextlib.contextmanager
    def settings_applied(self) -> Iterator[None]:
        """Set the environment variables of this service in this process."""
        variables = {name: value for name, value in self.environment().items() if name.startswith("OS_")}
        variables["OS_DEFAULT__LOG_FILE"] = str(self._log)
        os.environ.update(variables)
        try:
            yield
        finally:
            for name in variables:
                del os.environ[name]


class PlimsollUnderGunicorn(Plimsoll):
    """Plimsoll under gunicorn, with as many threads as `plimsoll serve` processes requests at a time."""

    def command(self) -> list[str]:
        return _gunicorn(self.port, 1, 16, "plimsoll.wsgi:load_application()")


class Deployment:
    """Several services on one database. Clients are spread over them."""

    def __init__(self, services: Sequence[Service]) -> None:
        self.services = services
        self.ports = tuple(service.port for service in services)

    def processor_seconds(self) -> float:
        return sum(service.processor_seconds() for service in self.services)


class ReadyMade(Service):
    """Plimsoll's HTTP server with an application that sends the files of a directory."""

    def __init__(self, directory: Path, bodies: Path) -> None:
        super().__init__("ready-made", directory, "")
        self._bodies = bodies

    def environment(self) -> dict[str, str]:
        return super().environment() | {"PYTHONPATH": str(ROOT)}

    def command(self) -> list[str]:
        return [sys.executable, "-m", "bench.site.readymade", str(self.port), str(self._bodies)]


@contextlib.contextmanager
def running(*services: Service) -> Iterator[None]:
    """Start all services at the same time and stop them at the end."""
    try:
        for service in services:
            service.launch()
        for service in services:
            service.wait()
        yield
    finally:
        for service in services:
            service.stop()
