# SPDX-License-Identifier: Apache-2.0

"""GET /plimsoll/v1/openapi.json, /plimsoll/v1/openapi/placement-*.json and /plimsoll/v1/docs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.api.placement.microversion import VERSIONS
from tests.support.api import Api, api

V1 = "/plimsoll/v1"
NEWEST = f"{V1}/openapi/placement-1.39.json"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api(tmp_path_factory.mktemp("openapi") / "placement.sqlite") as served:
        yield served


def test_there_is_a_document_for_each_version(served: Api) -> None:
    for version in VERSIONS:
        document = served.get(f"{V1}/openapi/placement-{version}.json").json
        assert document["info"]["version"] == version.text


@pytest.mark.parametrize(
    "name", ["placement-1.40.json", "placement-.json", "placement-1.39", "x", "1.39.json"]
)
def test_other_documents_do_not_exist(served: Api, name: str) -> None:
    response = served.get(f"{V1}/openapi/{name}")
    assert response.status == 404
    assert "placement-1.0.json to placement-1.39.json" in response.detail


def test_the_plimsoll_api_describes_itself(served: Api) -> None:
    document = served.get(f"{V1}/openapi.json").json
    assert document["openapi"].startswith("3.1")
    assert f"{V1}/openapi.json" in document["paths"]


@pytest.mark.parametrize("path", [f"{V1}/openapi.json", NEWEST, f"{V1}/docs"])
def test_an_unchanged_response_is_a_304(served: Api, path: str) -> None:
    first = served.get(path)
    assert first.status == 200
    again = served.call("GET", path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("path", [f"{V1}/openapi.json", NEWEST, f"{V1}/docs"])
def test_no_token_is_needed(served: Api, path: str) -> None:
    headers = {"X-Auth-Token": "", "X-Roles": ""}
    assert served.call("GET", path, headers=headers).status == 200


def test_the_page_shows_the_requested_version(served: Api) -> None:
    assert b"OpenStack Placement API 1.39<" in served.get(f"{V1}/docs").body
    old = served.get(f"{V1}/docs?version=1.4&q=traits")
    assert b"OpenStack Placement API 1.4<" in old.body
    assert old.headers["content-type"] == "text/html; charset=UTF-8"


@pytest.mark.parametrize("query", ["version=1.40", "version=latest", "x=1", f"q={'x' * 201}"])
def test_other_queries_are_refused(served: Api, query: str) -> None:
    assert served.get(f"{V1}/docs?{query}").status == 400


def test_the_server_of_a_document_is_the_prefix_of_the_service(served: Api, tmp_path: Path) -> None:
    with api(tmp_path / "placement.sqlite", plimsoll__prefix="/placement") as prefixed:
        assert prefixed.get(f"/placement{NEWEST}").json["servers"] == [{"url": "/placement"}]
    assert served.get(NEWEST).json["servers"] == [{"url": "/"}]
