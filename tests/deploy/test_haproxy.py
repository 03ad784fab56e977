# SPDX-License-Identifier: Apache-2.0

"""deploy/haproxy: HAProxy terminates TLS, skips a server that is down, and locations have https."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.deploy import deployed, examples
from tests.deploy.deployed import Deployed
from tests.support.running import PLIMSOLL
from tests.support.servers.places import free_port

pytestmark = [
    pytest.mark.skipif(shutil.which(program) is None, reason=f"not run: {program} is not installed")
    for program in ("haproxy", "openssl")
]


def make_certificate(file: Path) -> None:
    key, certificate = file.with_suffix(".key"), file.with_suffix(".crt")
    subject = ["-subj", "/CN=placement", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    file.write_text(certificate.read_text() + key.read_text())


class Front:
    """The TLS port of HAProxy."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.url = f"https://127.0.0.1:{port}"
        self._trusted = ssl.create_default_context(cafile=certificate.with_suffix(".crt"))

    def call(self, path: str, body: Any = None) -> tuple[int, str]:
        """Send a request with a forged x-forwarded-proto; return status and location of the response."""
        headers = {"x-auth-token": "admin", "x-forwarded-proto": "http", "content-type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", content, headers)
        try:
            with urllib.request.urlopen(request, timeout=30, context=self._trusted) as response:
                return response.status, response.headers.get("location", "")
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, ""


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Front]:
    proxied = "[oslo_middleware]\nenable_proxy_headers_parsing = true\n"
    deployed.settings(tmp_path, more=proxied)
    behind, port = free_port(), free_port()
    certificate = tmp_path / "placement.pem"
    make_certificate(certificate)
    places = {
        "10.0.0.10:8778": f"127.0.0.1:{port}",
        "/etc/haproxy/placement.pem": certificate,
        "10.0.0.11:8778": f"127.0.0.1:{behind}",
        "10.0.0.12:8778": f"127.0.0.1:{free_port()}",  # no server there
        "10.0.0.13:8778": f"127.0.0.1:{behind}",
    }
    (tmp_path / "plimsoll.cfg").write_text(examples.adapted("haproxy/plimsoll.cfg", places))
    environment = deployed.environment(tmp_path)
    service = Deployed([PLIMSOLL, "serve", "--port", str(behind)], behind, tmp_path, environment)
    proxy = Deployed(["haproxy", "-f", tmp_path / "plimsoll.cfg"], port, tmp_path, environment)
    with service:
        try:
            proxy.launch()
            yield Front(port, certificate)
        finally:
            proxy.kill()


def test_the_example_serves_and_its_addresses_are_those_of_the_front(front: Front) -> None:
    deadline = time.monotonic() + deployed.SECONDS
    while not serves(front):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    status, location = front.call("/resource_providers", {"name": "host"})
    assert status == 201
    assert location.startswith(f"{front.url}/resource_providers/")
    assert front.call(location.removeprefix(front.url))[0] == 200


def serves(front: Front) -> bool:
    """Return True if all requests succeed. Until HAProxy's checks have found the server that is down, some fail."""
    try:
        return all(front.call("/resource_providers")[0] == 200 for _ in range(12))
    except OSError:  # HAProxy does not listen yet
        return False
