# SPDX-License-Identifier: Apache-2.0

"""The two services on one database, one at a time, each with the settings file that an operator has."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conformance.sites import upstream_url
from tests.differential import servers
from tests.storage import reference
from tests.takeover import guide

Running = servers.Server


class _OneDatabase:
    """A site with one database, which is there already."""

    def __init__(self, url: str) -> None:
        self._url = url

    def url(self, database: str) -> str:
        return self._url

    def create_database(self, name: str, like: str | None = None) -> None:
        raise AssertionError("the database is there already")

    def drop_database(self, name: str) -> None:
        raise AssertionError("the database is not ours to drop")


class _AsTheGuideSays(servers.Plimsoll):
    """Plimsoll started with the guide's command, on a port of ours and as one worker."""

    def command(self) -> list[str]:
        words = shlex.split(guide.commands("serve"))
        for option, value in {"--host": "127.0.0.1", "--port": str(self._port), "--workers": "1"}.items():
            words[words.index(option) + 1] = value
        return [str(self.bin / Path(words[0]).name), *words[1:]]


class Place:
    """A directory with a placement.conf, and the database that it names in the way of those who run the reference."""

    def __init__(self, url: str, directory: Path) -> None:
        if not (reference.BIN / "gunicorn").exists():
            pytest.skip("needs the reference: run `make test`, which installs it")
        self.url = url
        self.directory = directory
        self._site = _OneDatabase(url)
        self._connection = upstream_url(self._site, "")
        (directory / "placement.conf").write_text(
            "[api]\nauth_strategy = noauth2\n"
            f"[placement_database]\nconnection = {self._connection}\n"
            "[plimsoll]\nallow_insecure_noauth = true\n"
        )

    @property
    def environment(self) -> dict[str, str]:
        """The commands of both services are at hand, and find the database without being told."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
        paths = [str(servers.Plimsoll.bin), str(servers.Reference.bin), os.environ["PATH"]]
        return clean | {
            "PATH": os.pathsep.join(paths),
            "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
            "OS_PLACEMENT_CONFIG_DIR": str(self.directory),
            # The reference's commands look for a file in /etc alone.
            "OS_PLACEMENT_DATABASE__CONNECTION": self._connection,
        }

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run lines of a guide as they stand, but for where Plimsoll is installed."""
        return subprocess.run(
            ["bash", "-c", commands.replace("/opt/plimsoll/bin", str(servers.Plimsoll.bin))],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    @contextlib.contextmanager
    def reference(self) -> Iterator[Running]:
        with self._running(servers.Reference(self._site, self.directory, database="")) as service:
            yield service

    @contextlib.contextmanager
    def plimsoll(self) -> Iterator[Running]:
        with self._running(_AsTheGuideSays(self._site, self.directory, database="")) as service:
            yield service

    @contextlib.contextmanager
    def _running(self, service: Running) -> Iterator[Running]:
        try:
            service.launch()
            service.connect()
            yield service
        finally:
            service.stop()


def memory_of_worker(service: Running) -> int:
    """Bytes that the largest process of a service has to itself in memory."""
    assert service._process is not None
    main = psutil.Process(service._process.pid)
    return max(int(process.memory_full_info().uss) for process in (main, *main.children(recursive=True)))
