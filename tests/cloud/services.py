# SPDX-License-Identifier: Apache-2.0

"""Placement services under a Keystone, each started with the placement.conf that an operator wrote: ours, and the
reference beside it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import api
from tests.support.running import Service

TOLD = ("content-type", "www-authenticate", "openstack-api-version", "vary")
REFERENCE = Path(__file__).resolve().parents[2] / ".venv-reference" / "bin"


class Answer(api.Answer):
    __slots__ = ()

    @property
    def essence(self) -> tuple[int, dict[str, str], Any]:
        """What must be the same in both services: all but ids and times of this one request."""
        headers = {name: self.headers[name] for name in TOLD if name in self.headers}
        said = self.json if self.headers.get("content-type") == "application/json" else self.body.decode()
        for error in said.get("errors", []) if isinstance(said, dict) else []:
            assert error.pop("request_id") == self.headers["x-openstack-request-id"]
        return self.status, headers, said


class Plimsoll(Service):
    """`plimsoll serve` with `auth_strategy=keystone`; `section` is its `[keystone_authtoken]`."""

    def __init__(self, directory: Path, section: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        super().__init__(directory, database=f"sqlite:///{directory}/placement.sqlite")
        (directory / "placement.conf").write_text(f"[api]\nauth_strategy = keystone\n{section}")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if name != "OS_API__AUTH_STRATEGY"}

    def ask(
        self,
        method: str,
        path: str,
        token: str | None = None,
        body: Any = None,
        version: str = "1.39",
        **headers: str,
    ) -> Answer:
        """One request; headers are given by their names with underscores."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        said["openstack-api-version"] = f"placement {version}"
        if token is not None:
            said["x-auth-token"] = token
        content = None
        if body is not None:
            content = json.dumps(body)
            said["content-type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, content, said)
            answer = connection.getresponse()
            got = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, got, answer.read())
        finally:
            connection.close()


class Reference(Plimsoll):
    """openstack-placement under Gunicorn, on the same settings."""

    def serving(self) -> list[str]:
        size = ["--workers", "1", "--worker-class", "gthread", "--threads", "4", "--no-control-socket"]
        address = ["--bind", f"127.0.0.1:{self.port}", "--log-level", "warning"]
        return [str(REFERENCE / "gunicorn"), *size, *address, "placement.wsgi.api:application"]


class Both(NamedTuple):
    """Two services with the same settings under the same Keystone."""

    ours: Plimsoll
    theirs: Reference

    def ask(self, method: str, path: str, token: str | None = None, body: Any = None, **more: str) -> Answer:
        """Our answer, which is the reference's too."""
        ours, theirs = (service.ask(method, path, token, body, **more) for service in self)
        assert ours.essence == theirs.essence, f"{ours.essence}\n{theirs.essence}"
        return ours


@contextmanager
def both(directory: Path, section: str) -> Iterator[Both]:
    services = Both(Plimsoll(directory / "ours", section), Reference(directory / "theirs", section))
    with ThreadPoolExecutor() as pool:
        try:
            list(pool.map(Service.start, services))
            yield services
        finally:
            list(pool.map(Service.stop, services))
