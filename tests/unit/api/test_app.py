# SPDX-License-Identifier: Apache-2.0

"""What a request passes on its way in, in which order, and what every answer carries."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from plimsoll.access import Caller, Policy
from plimsoll.api.app import Api
from plimsoll.api.placement.request import ApiRequest
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.http.problems import JSON
from plimsoll.http.response import Response, document, now
from tests.unit.api.nowhere import NOWHERE

UUID = "11111111-1111-1111-1111-111111111111"


@dataclass
class Gate:
    """A policy that lets everyone in, or no one, and remembers what it was asked."""

    open: bool = True
    asked: list[tuple[str, Mapping[str, Any] | None]] = field(default_factory=list)

    def allows(self, rule: str, _: Caller, target: Mapping[str, Any] | None) -> bool:
        self.asked.append((rule, target))
        return self.open


@dataclass
class Got:
    status: str
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = json.loads(self.body)["errors"][0]
        return error


def ask(
    handler: Callable[[ApiRequest], Response] | None = None,
    gate: Gate | None = None,
    **environ: Any,
) -> Got:
    """Sends one request to an application whose handlers all do the same."""
    routes = tuple(replace(route, handler=handler or (lambda _: document({}))) for route in ROUTES)
    api = Api(NOWHERE, cast(Policy, gate or Gate()), Router(routes), longest_body=1000)
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
    return Got(started[0], dict(started[1]), body)


def test_an_answer_names_its_version_and_varies_by_it() -> None:
    got = ask(HTTP_OPENSTACK_API_VERSION="placement 1.7")
    assert got.status == "200 OK"
    assert got.headers == {
        "openstack-api-version": "placement 1.7",
        "vary": "openstack-api-version",
        "content-type": "application/json",
        "content-length": "2",
    }


def test_an_answer_without_a_body_has_no_media_type() -> None:
    created = ask(lambda _: Response(201))
    assert "content-type" not in created.headers
    assert created.headers["content-length"] == "0"
    assert "content-length" not in ask(lambda _: Response(204)).headers


@pytest.mark.parametrize(("version", "dated"), [("1.14", False), ("1.15", True)])
def test_answers_are_dated_from_the_version_on_that_does(version: str, dated: bool) -> None:
    got = ask(lambda _: document({}, now()), HTTP_OPENSTACK_API_VERSION=f"placement {version}")
    assert ("last-modified" in got.headers) is dated
    assert (got.headers.get("cache-control") == "no-cache") is dated


def test_what_cannot_tell_its_date_is_still_not_to_be_kept() -> None:
    got = ask(lambda _: document({}, None))
    assert "last-modified" not in got.headers
    assert got.headers["cache-control"] == "no-cache"


def test_locations_are_where_the_client_can_get_at_them() -> None:
    got = ask(lambda _: Response(201, location="/traits/A"), SCRIPT_NAME="/placement")
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
    assert ask(lambda _: Response(201, location="/traits/A"), **environ).headers["location"] == location


def test_a_fault_is_a_500_that_says_nothing_of_the_inside() -> None:
    def fail(_: ApiRequest) -> Response:
        raise RuntimeError("SELECT secret FROM table")

    got = ask(fail)
    assert got.status == "500 Internal Server Error"
    assert got.headers["openstack-api-version"] == "placement 1.39"
    assert got.headers["vary"] == "openstack-api-version"
    assert b"SELECT" not in got.body
    assert got.error["request_id"] == "req-1"


def test_the_version_is_looked_at_before_anything_else() -> None:
    got = ask(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION="placement 9.9", CONTENT_LENGTH="x")
    assert got.error["status"] == 406
    assert got.error["max_version"] == "1.39"
    assert "code" not in got.error
    assert "openstack-api-version" not in got.headers


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"CONTENT_LENGTH": "x"}, "content-length header must be an integer"),
        ({"CONTENT_LENGTH": "5"}, "content-type header required when content-length > 0"),
    ],
)
def test_then_the_length_of_the_body(environ: dict[str, Any], words: str) -> None:
    got = ask(PATH_INFO="/nope", **environ)
    assert got.error["status"] == 400
    assert words in got.error["detail"]


def test_then_the_path_and_the_method() -> None:
    gate = Gate(open=False)
    missing = ask(gate=gate, PATH_INFO="/nope")
    assert (missing.error["status"], "vary" in missing.headers) == (404, False)
    wrong = ask(gate=gate, REQUEST_METHOD="PATCH")
    assert (wrong.error["status"], wrong.headers["allow"]) == (405, "GET, POST")
    assert gate.asked == []


def test_then_the_checks_of_the_route_in_its_order() -> None:
    """Of a request that is wrong in two ways, clients see what its route looks at first."""
    old: dict[str, Any] = {"HTTP_OPENSTACK_API_VERSION": "placement 1.0", "HTTP_ACCEPT": "text/plain"}
    gate = Gate(open=False)
    aggregates = ask(gate=gate, PATH_INFO=f"/resource_providers/{UUID}/aggregates", **old)
    traits = ask(gate=gate, PATH_INFO=f"/resource_providers/{UUID}/traits", **old)
    assert aggregates.status == "406 Not Acceptable"
    assert traits.status == "404 Not Found"
    assert gate.asked == []


def test_then_the_policy_and_only_then_the_handler() -> None:
    handled: list[ApiRequest] = []

    def handle(call: ApiRequest) -> Response:
        handled.append(call)
        return Response(204)

    refused = ask(handle, Gate(open=False))
    assert refused.error["status"] == 403
    assert (
        "Policy does not allow placement:resource_providers:list to be performed." in refused.error["detail"]
    )
    assert "vary" not in refused.headers
    assert handled == []


def test_usages_are_asked_for_with_their_project() -> None:
    gate = Gate()
    ask(gate=gate, PATH_INFO="/usages", QUERY_STRING="project_id=a&project_id=b")
    ask(gate=gate)
    assert gate.asked == [
        ("placement:usages", {"project_id": "b"}),
        ("placement:resource_providers:list", None),
    ]


def test_the_version_document_asks_nobody() -> None:
    gate = Gate(open=False)
    for path in ("", "/"):
        assert ask(gate=gate, PATH_INFO=path).status == "200 OK"
    assert gate.asked == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/JSON", "application/json ", ""])
def test_a_body_of_another_type_is_refused(content_type: str) -> None:
    got = ask(REQUEST_METHOD="POST", CONTENT_TYPE=content_type)
    assert got.error["status"] == 415
    assert f"The media type {content_type or 'None'} is not supported" in got.error["detail"]


def test_a_media_type_may_have_parameters() -> None:
    got = ask(REQUEST_METHOD="POST", CONTENT_TYPE="application/json; charset=utf-8")
    assert got.status == "200 OK"


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*;q=0.1", "not a media type"])
def test_json_is_given_to_whoever_does_not_rule_it_out(accept: str) -> None:
    assert ask(HTTP_ACCEPT=accept).status == "200 OK"


@pytest.mark.parametrize(("version", "code"), [("1.22", None), ("1.23", "placement.undefined_code")])
def test_errors_have_codes_from_the_version_on_that_has_them(version: str, code: str | None) -> None:
    got = ask(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION=f"placement {version}")
    assert got.error.get("code") == code


def test_head_is_refused_without_a_body() -> None:
    got = ask(REQUEST_METHOD="HEAD")
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
def test_a_route_of_a_later_version_says_since_which(
    method: str, path: str, version: str, status: int, since: str
) -> None:
    got = ask(
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
    got = ask(PATH_INFO="/traits", HTTP_OPENSTACK_API_VERSION=header)
    assert (
        f"The header 'openstack-api-version: {header}' names no version of placement, so that the version of this"
        " request is 1.0. A version has two numbers, as in 'openstack-api-version: placement 1.39'."
    ) in got.error["detail"]
    fine = ask(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION="compute 2.90, placement 1.0")
    assert "names no version" not in fine.error["detail"]


def test_a_long_version_header_is_quoted_in_part() -> None:
    for header in ("placement " + "<" * 60_000, "<" * 60_000, "placement 1." + "1" * 60_000):
        got = ask(PATH_INFO="/nope", HTTP_OPENSTACK_API_VERSION=header)
        assert got.error["status"] in (400, 404, 406)
        assert len(got.body) < 2000
