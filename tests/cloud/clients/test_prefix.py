# SPDX-License-Identifier: Apache-2.0

"""Clients work if a proxy serves Plimsoll under a prefix, as in many clouds."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from tests.cloud.clients.openstack import OpenStack
from tests.cloud.keystone import Keystone
from tests.cloud.services import Plimsoll

PREFIX = "/placement"
REGION = "Prefixed"
HOST = "6d5b6f5e-3b0e-4c4e-9d55-8f2d0a1c7b11"


class Proxy(BaseHTTPRequestHandler):
    """Forwards requests under the prefix, with the header X-Forwarded-Prefix; other paths are a 404."""

    behind: ClassVar[int]
    protocol_version = "HTTP/1.1"

    def _pass_on(self) -> None:
        if not self.path.startswith(PREFIX):
            self.send_error(404)
            return
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = dict(self.headers.items()) | {"x-forwarded-prefix": PREFIX}
        connection = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        try:
            connection.request(self.command, self.path.removeprefix(PREFIX) or "/", body or None, headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815  # the server calls them so

    def log_message(self, *_: object) -> None:
        """Log nothing: the service has its own log."""


@pytest.fixture
def offered(plimsoll: Plimsoll) -> Iterator[str]:
    """Return the address of the service behind the proxy."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("ProxyOfOne", (Proxy,), {"behind": plimsoll.port}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{PREFIX}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_client_finds_a_new_provider_behind_a_prefix(keystone: Keystone, offered: str) -> None:
    """The client's next request is for the location of the new provider."""
    keystone.endpoint("placement", offered, REGION)
    with OpenStack(keystone.environment() | {"OS_REGION_NAME": REGION}) as openstack:
        made = openstack.run(f"resource provider create host-1 --uuid {HOST} -f json")
        assert made.json["uuid"] == HOST
        listed = openstack.run("resource provider list -f json")
    assert [each["name"] for each in listed.json] == ["host-1"]
