# SPDX-License-Identifier: Apache-2.0

"""The service under a prefix: what is below it is served, with links that have it, and nothing beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plimsoll.http.middleware.mount import normal
from tests.support.api import Api, api


@pytest.fixture(scope="module", params=["/placement", "placement/"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    file = tmp_path_factory.mktemp("mount") / "placement.sqlite"
    with api(file, plimsoll__prefix=request.param) as served:
        yield served


@pytest.mark.parametrize("path", ["/placement", "/placement/"])
def test_the_version_document_is_where_the_prefix_ends(served: Api, path: str) -> None:
    answer = served.call("GET", path, headers={"X-Auth-Token": ""})
    assert answer.status == 200
    assert answer.json["versions"][0]["id"] == "v1.0"


def test_links_and_locations_have_the_prefix(served: Api) -> None:
    name = normal("/" + served.database.where.replace("/", "-"))[1:]
    made = served.post("/placement/resource_providers", {"name": name})
    assert made.headers["location"] == f"http://localhost/placement/resource_providers/{made.json['uuid']}"
    assert all(link["href"].startswith("/placement/resource_providers/") for link in made.json["links"])


@pytest.mark.parametrize(
    "path", ["", "/", "/traits", "/placements", "/placementtraits", "/x/placement/traits"]
)
def test_beside_it_there_is_nothing(served: Api, path: str) -> None:
    answer = served.get(path)
    assert answer.status == 404
    assert "The service is under /placement" in answer.detail
    assert "x-openstack-request-id" in answer.headers


def test_a_server_that_mounts_it_there_already_is_believed(served: Api) -> None:
    environ = {"SCRIPT_NAME": "/placement", "PATH_INFO": "/", "REQUEST_METHOD": "GET"}
    said: list[str] = []
    served.application(environ, lambda status, *_: said.append(status))  # type: ignore[arg-type]
    assert said == ["200 OK"]


@pytest.mark.parametrize(
    ("given", "meant"), [("", ""), ("/", ""), (" ", ""), ("a", "/a"), ("/a/", "/a"), ("/a/b", "/a/b")]
)
def test_a_prefix_may_be_written_in_many_ways(given: str, meant: str) -> None:
    assert normal(given) == meant
