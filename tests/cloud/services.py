# SPDX-License-Identifier: Apache-2.0

"""Plimsoll and the reference with the same Keystone, each started with the same placement.conf."""

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

COMPARED_HEADERS = ("content-type", "www-authenticate", "openstack-api-version", "vary")
REFERENCE = Path(__file__).resolve().parents[2] / ".venv-reference" / "bin"


class Response(api.Response):
    __slots__ = ()

    @property
    def comparable(self) -> tuple[int, dict[str, str], Any]:
        """Return the parts that must be equal in both services: without ids and times of the request."""
        headers = {name: self.headers[name] for name in COMPARED_HEADERS if name in self.headers}
        document = self.json if self.headers.get("content-type") == "application/json" else self.body.decode()
        for error in document.get("errors", []) if isinstance(document, dict) else []:
            assert error.pop("request_id") == self.headers["x-openstack-request-id"]
        return self.status, headers, document


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

    def send(
        self,
        method: str,
        path: str,
        token: str | None = None,
        body: Any = None,
        version: str = "1.39",
        **headers: str,
    ) -> Response:
        """Send one request; header names are given with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["openstack-api-version"] = f"placement {version}"
        if token is not None:
            sent["x-auth-token"] = token
        content = None
        if body is not None:
            content = json.dumps(body)
            sent["content-type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, received, response.read())
        finally:
            connection.close()


class Reference(Plimsoll):
    """openstack-placement in Gunicorn, with the same settings."""

    def serve_command(self) -> list[str]:
        size = ["--workers", "1", "--worker-class", "gthread", "--threads", "4", "--no-control-socket"]
        address = ["--bind", f"127.0.0.1:{self.port}", "--log-level", "warning"]
        return [str(REFERENCE / "gunicorn"), *size, *address, "placement.wsgi.api:application"]


class Both(NamedTuple):
    """Two services with the same settings and the same Keystone."""

    ours: Plimsoll
    theirs: Reference

    def send(
        self, method: str, path: str, token: str | None = None, body: Any = None, **more: str
    ) -> Response:
        """Return Plimsoll's response, after checking that the reference's is equal."""
        ours, theirs = (service.send(method, path, token, body, **more) for service in self)
        assert ours.comparable == theirs.comparable, f"{ours.comparable}\n{theirs.comparable}"
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
