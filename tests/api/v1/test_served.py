# SPDX-License-Identifier: Apache-2.0

"""Lists in pieces under `plimsoll serve`, over a real connection."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from plimsoll.api.v1.lists import MAX_AT_ONCE
from tests.support.running import Service

COUNT = MAX_AT_ONCE + 44
LIST = "/plimsoll/v1/providers"
TOKEN = {"x-auth-token": "admin"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("served")) as service:
        client = service.client()
        for number in range(COUNT):
            status, _ = client.call("POST", "/resource_providers", {"name": f"host{number}"})
            assert status == 200
        yield service


@pytest.fixture
def connection(service: Service) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    yield connection
    connection.close()


def test_a_long_list_is_sent_in_chunks_on_a_connection_that_stays_open(
    connection: http.client.HTTPConnection,
) -> None:
    for _ in range(3):
        connection.request("GET", LIST, headers=TOKEN)
        response = connection.getresponse()
        assert (response.status, response.headers["transfer-encoding"]) == (200, "chunked")
        listed = json.loads(response.read())["providers"]
        assert [each["name"] for each in listed] == [f"host{number}" for number in range(COUNT)]


def test_json_lines_are_sent_in_chunks(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", LIST, headers={**TOKEN, "accept": "application/x-ndjson"})
    response = connection.getresponse()
    assert response.headers["transfer-encoding"] == "chunked"
    assert len([json.loads(line) for line in response]) == COUNT


def test_a_short_list_and_an_error_have_a_length(connection: http.client.HTTPConnection) -> None:
    for query, status in (("?limit=10", 200), ("?limit=0", 400)):
        connection.request("GET", LIST + query, headers=TOKEN)
        response = connection.getresponse()
        assert response.status == status
        assert int(response.headers["content-length"]) == len(response.read())


def test_an_unchanged_list_is_a_304_on_the_same_connection(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", LIST, headers=TOKEN)
    response = connection.getresponse()
    response.read()
    connection.request("GET", LIST, headers={**TOKEN, "if-none-match": response.headers["etag"]})
    unchanged = connection.getresponse()
    assert (unchanged.status, unchanged.read()) == (304, b"")


def test_a_client_of_http_1_0_gets_the_whole_list(service: Service) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"  # type: ignore[attr-defined]
    connection.request("GET", LIST, headers=TOKEN)
    response = connection.getresponse()
    assert "transfer-encoding" not in response.headers
    assert len(json.loads(response.read())["providers"]) == COUNT
    connection.close()
