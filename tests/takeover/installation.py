# SPDX-License-Identifier: Apache-2.0

"""Run either service on one database, one at a time, with a placement.conf."""

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

RunningService = servers.Server


class _OneDatabase:
    """A site with one database, which exists already."""

    def __init__(self, url: str) -> None:
        self._url = url

    def url(self, database: str) -> str:
        return self._url

    def create_database(self, name: str, like: str | None = None) -> None:
        raise AssertionError("the database exists already")

    def drop_database(self, name: str) -> None:
        raise AssertionError("the database belongs to the fixture")


class _PlimsollFromGuide(servers.Plimsoll):
    """Plimsoll started with the command of the guide, on a free port with one worker."""

    def command(self) -> list[str]:
        arguments = shlex.split(guide.commands("serve"))
        for option, value in {"--host": "127.0.0.1", "--port": str(self._port), "--workers": "1"}.items():
            arguments[arguments.index(option) + 1] = value
        return [str(self.bin / Path(arguments[0]).name), *arguments[1:]]


class Installation:
    """A directory with a placement.conf, whose database URL has the form that the reference uses."""

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
        """Environment variables with which the commands of both services find the database."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("OS_", "PYTHON"))}
        paths = [str(servers.Plimsoll.bin), str(servers.Reference.bin), os.environ["PATH"]]
        return clean | {
            "PATH": os.pathsep.join(paths),
            "PYTHONPATH": str(Path(__file__).parents[2] / "src"),
            "OS_PLACEMENT_CONFIG_DIR": str(self.directory),
            # The reference's commands read a file in /etc only.
            "OS_PLACEMENT_DATABASE__CONNECTION": self._connection,
        }

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Run lines of the guide, with the path of Plimsoll replaced."""
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
    def reference(self) -> Iterator[RunningService]:
        with self._running(servers.Reference(self._site, self.directory, database="")) as service:
            yield service

    @contextlib.contextmanager
    def plimsoll(self) -> Iterator[RunningService]:
        with self._running(_PlimsollFromGuide(self._site, self.directory, database="")) as service:
            yield service

    @contextlib.contextmanager
    def _running(self, service: RunningService) -> Iterator[RunningService]:
        try:
            service.launch()
            service.connect()
            yield service
        finally:
            service.stop()


def memory_of_worker(service: RunningService) -> int:
    """Return the unshared memory, in bytes, of the largest process of a service."""
    assert service._process is not None
    main = psutil.Process(service._process.pid)
    return max(int(process.memory_full_info().uss) for process in (main, *main.children(recursive=True)))
