# SPDX-License-Identifier: Apache-2.0

"""Dispatch, checks and errors of the Plimsoll API, on routes of these tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from plimsoll.access import Policy
from plimsoll.api.v1.application import V1Api
from plimsoll.api.v1.request import V1Request
from plimsoll.api.v1.response import NDJSON, TEXT, V1Response
from plimsoll.api.v1.route import Parameter, V1Route
from plimsoll.http.middleware.request_log import RequestLog
from plimsoll.http.problems import JSON, Problem
from plimsoll.http.response import encode_json
from plimsoll.permit import ENVIRON_KEY, Permit
from tests.support.api import Response
from tests.support.wsgi import environ
from tests.unit.api.unused_placement import UNUSED_PLACEMENT

PARAMETERS = (
    Parameter("limit", "How many", {"type": "integer", "minimum": 1, "maximum": 10}),
    Parameter("full", "Whether", {"type": "boolean", "default": False}),
    Parameter("order", "How", {"type": "string", "enum": ["up", "down"]}),
    Parameter("tag", "Tags", {"type": "string", "maxLength": 5}, repeated=True),
    Parameter("of", "A uuid", {"type": "string", "format": "uuid"}),
)
UUID = "10000000-0000-0000-0000-000000000001"


class PolicyOfTests:
    """Allows every rule but one."""

    def allows(self, rule: str, *_: Any) -> bool:
        return rule != "plimsoll:denied"


def show_request(call: V1Request) -> V1Response:
    shown = {
        "params": dict(call.params),
        "values": dict(call.values),
        "format": call.format,
        "candidates_query": call.candidates_query,
        "version": str(call.version),
    }
    return V1Response(encode_json(shown), content_type=call.format)


def with_tag(_: V1Request) -> V1Response:
    return V1Response(b"{}", etag='"7:a"')


def in_pieces(_: V1Request) -> V1Response:
    return V1Response(iter((b"1\n", b"2\n")), content_type=NDJSON)


def failing(_: V1Request) -> V1Response:
    raise RuntimeError("a mistake in a handler")


def refusing(_: V1Request) -> V1Response:
    raise Problem(404, "No such thing.")


def computing(call: V1Request) -> V1Response:
    pause = call.pauses()
    while True:
        pause()


def route(path: str, handler: Callable[[V1Request], V1Response] = show_request, **fields: Any) -> V1Route:
    given: dict[str, Any] = {"method": "GET", "rule": "plimsoll:allowed", "summary": "", "returns": {}}
    return V1Route(path=f"/plimsoll/v1/{path}", handler=handler, **(given | fields))


ROUTES = (
    route("things", parameters=PARAMETERS),
    route("things", method="PUT"),
    route("things/{thing}"),
    route("things/special", with_tag),
    route("things/{thing}/parts/{part}"),
    route("required", parameters=(Parameter("name", "", {"type": "string"}, required=True),)),
    route("several", formats=(JSON, NDJSON, TEXT)),
    route("page", formats=("text/html",)),
    route("pieces", in_pieces, formats=(NDJSON,)),
    route("denied", rule="plimsoll:denied"),
    route("failing", failing),
    route("refusing", refusing, formats=(JSON, NDJSON)),
    route("computing", computing),
    route("explain", parameters=PARAMETERS[:1], candidates_query=True),
)
API = RequestLog(V1Api(UNUSED_PLACEMENT, cast(Policy, PolicyOfTests()), ROUTES))


def call(target: str, method: str = "GET", **headers: str) -> Response:
    started: list[Any] = []
    listed = [(name.replace("_", "-"), value) for name, value in headers.items()]
    content = environ(method, f"/plimsoll/v1/{target}", b"", listed)
    body = b"".join(API(content, lambda *args: started.extend(args)))  # type: ignore[arg-type]
    return Response(int(started[0].split()[0]), dict(started[1]), body)


def values(query: str) -> Any:
    response = call(f"things?{query}")
    assert response.status == 200, response.body
    return response.json["values"]


def test_a_path_gives_its_values_to_the_handler() -> None:
    assert call("things/a/parts/b").json["params"] == {"thing": "a", "part": "b"}


def test_a_path_without_values_is_preferred() -> None:
    assert call("things/special").body == b"{}"


def test_values_of_the_path_are_decoded() -> None:
    assert call("things/zürich").json["params"] == {"thing": "zürich"}


def test_a_path_that_is_not_utf_8_is_a_400() -> None:
    started: list[Any] = []
    given = environ("GET", "/", b"", ()) | {"PATH_INFO": "/plimsoll/v1/things/\xff"}
    list(API(given, lambda *args: started.extend(args)))  # type: ignore[arg-type]
    assert started[0].startswith("400")


@pytest.mark.parametrize(
    "path", ["", "nothing", "things/", "things//parts/b", "things/a/parts", "things/a/b/c"]
)
def test_an_unknown_path_is_a_404_that_names_it(path: str) -> None:
    response = call(path)
    assert response.status == 404
    assert (
        f"There is nothing at /plimsoll/v1/{path}. The paths are listed at /plimsoll/v1/docs."
        in response.detail
    )


@pytest.mark.parametrize("method", ["DELETE", "HEAD", "POST"])
def test_another_method_is_a_405_that_lists_the_methods(method: str) -> None:
    response = call("things", method)
    assert (response.status, response.headers["allow"]) == (405, "GET, PUT")


def test_a_caller_that_the_policy_denies_gets_a_403_before_other_errors() -> None:
    response = call("denied?nonsense=1", accept="image/png")
    assert response.status == 403


def test_the_error_document_has_a_code() -> None:
    error = call("refusing").json["errors"][0]
    assert error["code"] == "placement.undefined_code"
    assert (error["status"], error["title"]) == (404, "Not Found")


def test_an_unexpected_error_is_a_500_without_its_text() -> None:
    response = call("failing")
    assert response.status == 500
    assert b"a mistake" not in response.body


class PermitOfClosedConnection(Permit):
    def is_client_gone(self) -> bool:
        return True


def test_a_computation_ends_when_the_client_closes_its_connection() -> None:
    started: list[Any] = []
    given = environ("GET", "/plimsoll/v1/computing", b"", ()) | {ENVIRON_KEY: PermitOfClosedConnection()}
    list(API(given, lambda *args: started.extend(args)))  # type: ignore[arg-type]
    assert started[0].startswith("503")


# Parameters


def test_values_are_converted_by_their_schemas() -> None:
    query = f"limit=3&full=true&order=up&tag=a&tag=b&of={UUID}"
    assert values(query) == {"limit": 3, "full": True, "order": "up", "tag": ["a", "b"], "of": UUID}


def test_absent_values_have_their_default() -> None:
    assert values("") == {"full": False, "tag": []}


def test_a_uuid_may_have_any_spelling() -> None:
    assert values(f"of={UUID.replace('-', '')}")["of"] == UUID.replace("-", "")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("limit=0", "0 is less than the minimum of 1"),
        ("limit=11", "11 is greater than the maximum of 10"),
        ("limit=x", "'x' is not of type 'integer'"),
        ("limit=", "'' is not of type 'integer'"),
        (f"limit={'9' * 5000}", "is not of type 'integer'"),
        ("full=maybe", "'maybe' is not of type 'boolean'"),
        ("order=sideways", "'sideways' is not one of ['up', 'down']"),
        ("tag=a&tag=longer", "'longer' is too long"),
        ("of=x", "'x' is not a 'uuid'"),
        ("limit=1&limit=2", "limit was given more than once"),
        ("colour=red", "There is no query parameter 'colour' here. Parameters: limit, full, order, tag, of."),
        ("tag=%ff", "Invalid query string parameters"),
    ],
)
def test_a_bad_value_is_a_400_with_the_reason(query: str, reason: str) -> None:
    response = call(f"things?{query}")
    assert response.status == 400
    assert reason in response.detail
    assert len(response.body) < 2000


def test_a_missing_parameter_is_a_400_that_names_it() -> None:
    response = call("required")
    assert (response.status, response.code) == (400, "placement.query.missing_value")
    assert "The query parameter name is required." in response.detail


def test_a_query_for_candidates_passes_its_other_parameters_on() -> None:
    shown = call("explain?limit=2&resources=VCPU:1&required=A%2CB&resources_1=VGPU:1").json
    assert shown["values"] == {"limit": 2}
    assert shown["candidates_query"] == "resources=VCPU%3A1&required=A%2CB&resources_1=VGPU%3A1"


@pytest.mark.parametrize(
    ("header", "version"), [("placement 1.10", "1.10"), ("compute 2.1", "1.39"), ("placement latest", "1.39")]
)
def test_the_version_header_selects_the_microversion_of_a_query(header: str, version: str) -> None:
    assert call("explain", openstack_api_version=header).json["version"] == version
    assert "openstack-api-version" not in call("explain", openstack_api_version=header).headers


# Media types


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("text/html,*/*;q=0.8", JSON),
        (NDJSON, NDJSON),
        ("text/plain", TEXT),
        (f"{JSON};q=0.1, {NDJSON}", NDJSON),
    ],
)
def test_the_format_is_negotiated(accept: str, chosen: str) -> None:
    response = call("several", accept=accept)
    assert response.json["format"] == chosen
    assert response.headers["content-type"].startswith(chosen)
    assert response.headers["vary"] == "accept"


def test_a_format_that_is_not_provided_is_a_406_that_lists_the_others() -> None:
    response = call("several", accept="image/png")
    assert response.status == 406
    assert b"application/json or application/x-ndjson or text/plain" in response.body


def test_a_page_is_sent_to_a_client_without_a_preference() -> None:
    assert call("page", accept=JSON).status == 200


def test_errors_for_a_client_of_json_lines_are_json() -> None:
    assert json.loads(call("refusing", accept=NDJSON).body)["errors"][0]["status"] == 404


# ETags and pieces


@pytest.mark.parametrize("tags", ['"7:a"', 'W/"7:a"', '"1", "7:a"', "*"])
def test_a_client_that_has_the_response_gets_a_304_without_a_body(tags: str) -> None:
    response = call("things/special", if_none_match=tags)
    assert (response.status, response.body) == (304, b"")
    assert response.headers["etag"] == '"7:a"'
    assert "content-type" not in response.headers
    assert "content-length" not in response.headers


@pytest.mark.parametrize("tags", ['"7:b"', "7:a", ""])
def test_a_client_with_another_response_gets_the_new_one(tags: str) -> None:
    response = call("things/special", if_none_match=tags)
    assert (response.status, response.headers["etag"]) == (200, '"7:a"')


def test_a_body_in_pieces_has_no_length() -> None:
    response = call("pieces")
    assert response.body == b"1\n2\n"
    assert "content-length" not in response.headers


def test_a_body_in_pieces_is_not_read_before_it_is_sent() -> None:
    read = []

    def pieces() -> Iterator[bytes]:
        read.append(1)
        yield b"x"

    _, _, body = V1Response(pieces()).wsgi()
    assert read == []
    assert list(body) == [b"x"]


def test_two_routes_with_one_method_and_path_are_refused() -> None:
    with pytest.raises(AssertionError, match="declared twice"):
        V1Api(UNUSED_PLACEMENT, cast(Policy, PolicyOfTests()), (route("a"), route("a")))
