# SPDX-License-Identifier: Apache-2.0

"""A connection stays open after every response, also if the request body was not read."""

import http.client
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Service

LONG = b"x" * 300_000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("service")) as service:
        for trait in ("CUSTOM_THERE", "CUSTOM_GOING"):
            assert service.client().call("PUT", f"/traits/{trait}", version="1.6")[0] == 201
        yield service


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/nowhere", LONG, {}, 404),
        ("POST", "/resource_providers", LONG, {"content-type": "text/plain"}, 415),
        ("POST", "/resource_providers", LONG, {}, 400),
        ("POST", "/resource_providers", b"x" * 11_000_000, {}, 413),
        ("POST", "/resource_providers", LONG, {"openstack-api-version": "placement 1.99"}, 406),
        ("PATCH", "/resource_providers", LONG, {}, 405),
        ("PUT", "/traits/CUSTOM_X", b"{}", {"openstack-api-version": "placement 1.6"}, 201),
        ("PUT", "/traits/CUSTOM_THERE", LONG, {"openstack-api-version": "placement 1.6"}, 204),
        (
            "PUT",
            "/traits/CUSTOM_THERE",
            b"",
            {"openstack-api-version": "placement 1.6", "content-length": "0"},
            204,
        ),
        ("GET", "/resource_providers", LONG, {}, 200),
        ("DELETE", "/traits/CUSTOM_GOING", LONG, {"openstack-api-version": "placement 1.6"}, 204),
        ("GET", "/", LONG, {}, 200),
    ],
)
def test_the_next_request_on_the_same_connection_gets_a_response(
    service: Service, method: str, path: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.connect()
    first_socket = connection.sock
    sent = {"x-auth-token": "admin", "content-type": "application/json"} | headers
    connection.request(method, path, body, sent)
    response = connection.getresponse()
    response.read()
    assert response.status == status
    assert response.getheader("connection") != "close"
    connection.request("GET", "/")
    assert connection.getresponse().read()
    assert connection.sock is first_socket
    connection.close()


def test_a_connection_stays_open_after_a_401(service: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("POST", "/resource_providers", LONG, {"content-type": "application/json"})
    response = connection.getresponse()
    response.read()
    assert response.status == 401
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_body_in_chunks_is_read(service: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    headers = {"x-auth-token": "admin", "content-type": "application/json"}
    connection.request(
        "POST", "/resource_providers", iter([b'{"name": ', b'"chunked"}']), headers, encode_chunked=True
    )
    response = connection.getresponse()
    response.read()
    assert response.status == 201
    connection.close()


def test_the_log_has_a_line_for_each_request(service: Service, tmp_path: Path) -> None:
    status, _ = service.client().call("GET", "/traits?name=startswith:HW_CPU", version="1.6")
    assert status == 200
    deadline = time.monotonic() + 10
    while "startswith:HW_CPU" not in service.log() and time.monotonic() < deadline:
        time.sleep(0.02)
    (line,) = [line for line in service.log().splitlines() if "startswith:HW_CPU" in line]
    assert '127.0.0.1 "GET /traits?name=startswith:HW_CPU" status: 200 len: ' in line
    assert line.endswith("microversion: 1.6")
