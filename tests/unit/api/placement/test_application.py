# SPDX-License-Identifier: Apache-2.0

"""The order of the checks of a request, and the headers of every response."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from plimsoll.access import Caller, Policy
from plimsoll.api.placement.application import PlacementApi
from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.http.problems import JSON
from plimsoll.http.response import Response, json_response, now
from tests.unit.api.unused_placement import UNUSED_PLACEMENT

UUID = "11111111-1111-1111-1111-111111111111"


@dataclass
class FakePolicy:
    """A policy that allows all requests or none, and records the rules and targets."""

    allow_all: bool = True
    checks: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)

    def allows(self, rule: str, _: Caller, target: Mapping[str, Any] | None) -> bool:
        self.checks.append((rule, target))
        return self.allow_all


@dataclass
class Received:
    status: str
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)["errors"][0]
        return error


def send(
    handler: Callable[[ApiRequest], Response] | None = None, policy: FakePolicy | None = None, **environ: Any
) -> Received:
    """Send one request to an application in which all routes have the same handler."""
    routes = tuple(replace(route, handler=handler or (lambda _: json_response({}))) for route in ROUTES)
    api = PlacementApi(UNUSED_PLACEMENT, cast(Policy, policy or FakePolicy()), Router(routes), 1000)
    given = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/resource_providers",
        "HTTP_ACCEPT": "application/json",
        "HTTP_OPENSTACK_API_VERSION": "placement latest",
        "HTTP_HOST": "cloud.example:8778",
        "wsgi.url_scheme": "https",
        "wsgi.input": io.BytesIO(b""),
        "openstack.request_id": "req-1",
    } | environ
    started: list[Any] = []
    body = b"".join(api(given, lambda *what: started.extend(what)))  # type: ignore[arg-type]
    return Received(started[0], dict(started[1]), body)


def test_a_response_has_its_version_and_a_vary_header() -> None:
    got = send(HTTP_OPENSTACK_API_VERSION="placement 1.7")
    assert got.status == "200 OK"
    assert got.headers == {
        "openstack-api-version": "placement 1.7",
        "vary": "openstack-api-version",
        "content-type": "application/json",
        "content-length": "2",
    }


def test_a_response_without_a_body_has_no_media_type() -> None:
    created = send(lambda _: Response(201))
    assert "content-type" not in created.headers
    assert created.headers["content-length"] == "0"
    assert "content-length" not in send(lambda _: Response(204)).headers


@pytest.mark.parametrize(("version", "dated"), [("1.14", False), ("1.15", True)])
def test_responses_have_cache_headers_since_that_feature(version: str, dated: bool) -> None:
    got = send(lambda _: json_response({}, now()), HTTP_OPENSTACK_API_VERSION=f"placement {version}")
    assert ("last-modified" in got.headers) is dated
    assert (got.headers.get("cache-control") == "no-cache") is dated


def test_a_response_without_a_time_still_has_cache_control() -> None:
    got = send(lambda _: json_response({}, None))
    assert "last-modified" not in got.headers
    assert got.headers["cache-control"] == "no-cache"


def test_locations_have_the_host_of_the_client_or_proxy() -> None:
    got = send(lambda _: Response(201, location="/traits/A"), SCRIPT_NAME="/placement")
    assert got.headers["location"] == "https://cloud.example:8778/placement/traits/A"


@pytest.mark.parametrize(
    ("environ", "location"),
    [
        ({"HTTP_HOST": "h:443"}, "https://h/traits/A"),
        ({"HTTP_HOST": "h:80", "wsgi.url_scheme": "http"}, "http://h/traits/A"),
        ({"HTTP_HOST": "", "SERVER_NAME": "s", "SERVER_PORT": "8778"}, "https://s:8778/traits/A"),
    ],
)
def test_locations_leave_out_the_usual_port(environ: dict[str, Any], location: str) -> None:
    assert send(lambda _: Response(201, location="/traits/A"), **environ).headers["location"] == location


def test_an_exception_is_a_500_without_internals() -> None:
    def fail(_: ApiRequest) -> Response:
        raise RuntimeError("SELECT secret FROM table")

    got = send(fail)
    assert got.status == "500 Internal Server Error"
    assert got.headers["openstack-api-version"] == "placement 1.39"
    assert got.headers["vary"] == "openstack-api-version"
    assert b"SELECT" not in got.body
    assert got.error["request_id"] == "req-1"


def test_the_version_is_checked_first() -> None:
    got = send(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION="placement 9.9", CONTENT_LENGTH="x")
    assert got.error["status"] == 406
    assert got.error["max_version"] == "1.39"
    assert "code" not in got.error
    assert "openstack-api-version" not in got.headers


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"CONTENT_LENGTH": "x"}, "content-length header must be an integer"),
        ({"CONTENT_LENGTH": "5"}, "content-type header required when content-length > 0"),
    ],
)
def test_the_length_of_the_body_is_checked_second(environ: dict[str, Any], text: str) -> None:
    got = send(PATH_INFO="/nope", **environ)
    assert got.error["status"] == 400
    assert text in got.error["detail"]


def test_path_and_method_are_checked_third() -> None:
    policy = FakePolicy(allow_all=False)
    missing = send(policy=policy, PATH_INFO="/nope")
    assert (missing.error["status"], "vary" in missing.headers) == (404, False)
    wrong = send(policy=policy, REQUEST_METHOD="PATCH")
    assert (wrong.error["status"], wrong.headers["allow"]) == (405, "GET, POST")
    assert policy.checks == []


def test_the_preconditions_of_the_route_are_checked_in_its_order() -> None:
    """If a request fails two checks, clients see the one that its route lists first."""
    old: dict[str, Any] = {"HTTP_OPENSTACK_API_VERSION": "placement 1.0", "HTTP_ACCEPT": "text/plain"}
    policy = FakePolicy(allow_all=False)
    aggregates = send(policy=policy, PATH_INFO=f"/resource_providers/{UUID}/aggregates", **old)
    traits = send(policy=policy, PATH_INFO=f"/resource_providers/{UUID}/traits", **old)
    assert aggregates.status == "406 Not Acceptable"
    assert traits.status == "404 Not Found"
    assert policy.checks == []


def test_the_policy_is_checked_before_the_handler_runs() -> None:
    handled: list[ApiRequest] = []

    def handle(call: ApiRequest) -> Response:
        handled.append(call)
        return Response(204)

    refused = send(handle, FakePolicy(allow_all=False))
    assert refused.error["status"] == 403
    assert (
        "Policy does not allow placement:resource_providers:list to be performed." in refused.error["detail"]
    )
    assert "vary" not in refused.headers
    assert handled == []


def test_the_policy_target_of_usages_is_the_requested_project() -> None:
    policy = FakePolicy()
    send(policy=policy, PATH_INFO="/usages", QUERY_STRING="project_id=a&project_id=b")
    send(policy=policy)
    assert policy.checks == [
        ("placement:usages", {"project_id": "b"}),
        ("placement:resource_providers:list", None),
    ]


def test_the_version_document_does_not_use_the_policy() -> None:
    policy = FakePolicy(allow_all=False)
    for path in ("", "/"):
        assert send(policy=policy, PATH_INFO=path).status == "200 OK"
    assert policy.checks == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/JSON", "application/json ", ""])
def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    got = send(REQUEST_METHOD="POST", CONTENT_TYPE=content_type)
    assert got.error["status"] == 415
    assert f"The media type {content_type or 'None'} is not supported" in got.error["detail"]


def test_a_media_type_may_have_parameters() -> None:
    got = send(REQUEST_METHOD="POST", CONTENT_TYPE="application/json; charset=utf-8")
    assert got.status == "200 OK"


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*;q=0.1", "not a media type"])
def test_json_is_returned_unless_the_accept_header_excludes_it(accept: str) -> None:
    assert send(HTTP_ACCEPT=accept).status == "200 OK"


@pytest.mark.parametrize(("version", "code"), [("1.22", None), ("1.23", "placement.undefined_code")])
def test_errors_have_codes_since_that_feature(version: str, code: str | None) -> None:
    got = send(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION=f"placement {version}")
    assert got.error.get("code") == code


def test_head_is_refused_without_a_body() -> None:
    got = send(REQUEST_METHOD="HEAD")
    assert (got.status, got.body, got.headers["content-length"]) == ("405 Method Not Allowed", b"", "0")


@pytest.mark.parametrize(
    ("method", "path", "version", "status", "since"),
    [
        ("GET", "/traits", "1.5", 404, "1.6"),
        ("POST", "/resource_classes", "1.0", 404, "1.2"),
        ("POST", "/reshaper", "1.29", 404, "1.30"),
        ("DELETE", f"/resource_providers/{UUID}/inventories", "1.4", 405, "1.5"),
    ],
)
def test_the_error_for_a_route_of_a_later_version_names_that_version(
    method: str, path: str, version: str, status: int, since: str
) -> None:
    got = send(
        REQUEST_METHOD=method,
        PATH_INFO=path,
        HTTP_OPENSTACK_API_VERSION=f"placement {version}",
        CONTENT_TYPE=JSON,
    )
    assert got.error["status"] == status
    last_line = got.error["detail"].split("\n")[-1].strip()
    assert last_line == (
        f"{method} of this resource exists since microversion {since}. The version of this request is {version}."
    )


@pytest.mark.parametrize("header", ["1.39", "compute 2.90", "placement", "latest"])
def test_a_version_header_that_does_not_name_placement_is_explained(header: str) -> None:
    got = send(PATH_INFO="/traits", HTTP_OPENSTACK_API_VERSION=header)
    assert (
        f"The header 'openstack-api-version: {header}' names no version of placement: this request has version"
        " 1.0. A version has two numbers, as in 'openstack-api-version: placement 1.39'."
    ) in got.error["detail"]
    fine = send(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION="compute 2.90, placement 1.0")
    assert "names no version" not in fine.error["detail"]


def test_a_long_version_header_is_quoted_in_part() -> None:
    for header in ("placement " + "<" * 60_000, "<" * 60_000, "placement 1." + "1" * 60_000):
        got = send(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION=header)
        assert got.error["status"] in (400, 404, 406)
        assert len(got.body) < 2000
