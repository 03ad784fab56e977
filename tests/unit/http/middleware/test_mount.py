# SPDX-License-Identifier: Apache-2.0

"""The service under a prefix: links contain it, and other paths are not found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plimsoll.http.middleware.mount import normalize_prefix
from tests.support.api import Api, api


@pytest.fixture(scope="module", params=["/placement", "placement/"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    file = tmp_path_factory.mktemp("mount") / "placement.sqlite"
    with api(file, plimsoll__prefix=request.param) as served:
        yield served


@pytest.mark.parametrize("path", ["/placement", "/placement/"])
def test_the_version_document_is_where_the_prefix_ends(served: Api, path: str) -> None:
    response = served.call("GET", path, headers={"X-Auth-Token": ""})
    assert response.status == 200
    assert response.json["versions"][0]["id"] == "v1.0"


def test_links_and_locations_have_the_prefix(served: Api) -> None:
    name = normalize_prefix("/" + served.database.where.replace("/", "-"))[1:]
    made = served.post("/placement/resource_providers", {"name": name})
    assert made.headers["location"] == f"http://localhost/placement/resource_providers/{made.json['uuid']}"
    assert all(link["href"].startswith("/placement/resource_providers/") for link in made.json["links"])


@pytest.mark.parametrize(
    "path", ["", "/", "/traits", "/placements", "/placementtraits", "/x/placement/traits"]
)
def test_other_paths_are_not_found(served: Api, path: str) -> None:
    response = served.get(path)
    assert response.status == 404
    assert "Paths of this service begin with /placement" in response.detail
    assert "x-openstack-request-id" in response.headers


def test_a_prefix_that_the_server_has_moved_already_is_not_moved_again(served: Api) -> None:
    environ = {"SCRIPT_NAME": "/placement", "PATH_INFO": "/", "REQUEST_METHOD": "GET"}
    statuses: list[str] = []
    served.application(environ, lambda status, *_: statuses.append(status))  # type: ignore[arg-type]
    assert statuses == ["200 OK"]


@pytest.mark.parametrize(
    ("given", "expected"), [("", ""), ("/", ""), (" ", ""), ("a", "/a"), ("/a/", "/a"), ("/a/b", "/a/b")]
)
def test_a_prefix_may_be_written_in_many_ways(given: str, expected: str) -> None:
    assert normalize_prefix(given) == expected
