# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI documents are valid, have the routes of their version, and examples that match their schemas."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from plimsoll.api.openapi.examples import placement_examples, v1_examples
from plimsoll.api.openapi.placement import placement_document, routes_at
from plimsoll.api.openapi.v1 import v1_document
from plimsoll.api.placement.documents.table import DOCUMENTS
from plimsoll.api.placement.features import Feature as F
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS, Version
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.api.v1.routes import ROUTES as V1_ROUTES
from tests.support.openapi import Checker

EVERY_VERSION = pytest.mark.parametrize("version", VERSIONS, ids=str)
UUID = "10000000-0000-0000-0000-000000000001"


def at(version: Version) -> dict[str, Any]:
    # As clients read it.
    document: dict[str, Any] = json.loads(
        json.dumps(placement_document(version, placement_examples(version), "/"))
    )
    return document


def v1() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(v1_document(V1_ROUTES, v1_examples(), "/")))
    return document


def operations(document: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def parameter(version: Version, operation: str, name: str) -> dict[str, Any] | None:
    found = operations(at(version))[operation]["parameters"]
    return next((each for each in found if each["name"] == name), None)


@EVERY_VERSION
def test_the_document_of_each_version_is_valid(version: Version) -> None:
    OpenAPIV31SpecValidator(at(version)).validate()


def test_the_document_of_the_plimsoll_api_is_valid() -> None:
    OpenAPIV31SpecValidator(v1()).validate()


def test_a_wrong_document_is_not_valid() -> None:
    wrong = at(HIGHEST)
    del wrong["paths"]["/resource_providers/{uuid}"]["get"]["parameters"]  # the path has one
    assert list(OpenAPIV31SpecValidator(wrong).iter_errors())


def test_every_document_that_a_route_names_exists() -> None:
    named = {name for route in ROUTES for name in route.returns.values() if name is not None}
    assert named <= DOCUMENTS.keys()


@EVERY_VERSION
def test_a_document_has_the_routes_that_the_router_finds(version: Version) -> None:
    router = Router(ROUTES)
    for route in routes_at(version):
        found = router.find(route.path)
        assert found is not None
        assert found[0].route(route.method, version) is route
    expected = {route.name for route in ROUTES if route.path and route.exists_at(version)}
    # Only one of two routes with the same name is used, and the second has no check of its own.
    if not version.has(F.RESOURCE_CLASSES):
        expected.remove("PUT /resource_classes/{name}")
    assert set(operations(at(version))) == expected


def test_every_operation_of_the_plimsoll_api_is_there() -> None:
    assert set(operations(v1())) == {route.name for route in V1_ROUTES}


@pytest.mark.parametrize("name", ["v1", *map(str, VERSIONS)])
def test_every_example_matches_its_schema(name: str) -> None:
    document = v1() if name == "v1" else at(VERSIONS[int(name.removeprefix("1."))])
    components = {"components": document["components"]}
    checked = 0
    for operation in operations(document).values():
        contents = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in contents:
            for media in content.get("content", {}).values():
                if "example" in media:
                    jsonschema_rs.Draft202012Validator({**media["schema"], **components}).validate(
                        media["example"]
                    )
                    checked += 1
        for each in operation["parameters"]:
            if "example" in each:
                jsonschema_rs.Draft202012Validator(each["schema"]).validate(each["example"])
    assert checked > 5


def test_every_read_of_the_placement_api_has_an_example() -> None:
    missing = [
        name
        for name, operation in operations(at(HIGHEST)).items()
        for media in operation["responses"].get("200", {}).get("content", {}).values()
        if "example" not in media
    ]
    assert missing == []


def test_a_parameter_exists_from_its_feature_on() -> None:
    providers = "GET /resource_providers"
    assert parameter(VERSIONS[F.PROVIDER_TREES.minor - 1], providers, "in_tree") is None
    assert parameter(VERSIONS[F.PROVIDER_TREES.minor], providers, "in_tree") is not None


def test_a_parameter_is_a_list_from_the_feature_on_that_lets_it_be_repeated() -> None:
    search = "GET /allocation_candidates"
    before = parameter(VERSIONS[F.REPEATED_MEMBER_OF.minor - 1], search, "member_of")
    after = parameter(VERSIONS[F.REPEATED_MEMBER_OF.minor], search, "member_of")
    assert before is not None
    assert before["schema"]["type"] == "string"
    assert after is not None
    assert after["schema"]["type"] == "array"


@pytest.mark.parametrize(
    ("feature", "name", "is_group"),
    [
        (F.GRANULAR_GROUPS, "resources1", True),
        (F.GRANULAR_GROUPS, "resources_a", False),
        (F.NAMED_GROUPS, "resources_a", True),
        (F.NAMED_GROUPS, "limit_a", False),
    ],
)
def test_groups_have_the_suffixes_of_the_version(feature: F, name: str, is_group: bool) -> None:
    groups = parameter(VERSIONS[feature.minor], "GET /allocation_candidates", "groups")
    assert groups is not None
    assert jsonschema_rs.is_valid(groups["schema"], {name: "VCPU:1"}) is is_group


def test_the_lowest_version_needs_no_version_header() -> None:
    for version in (LOWEST, HIGHEST):
        header = parameter(version, "GET /", "openstack-api-version")
        assert header is not None
        assert header["required"] is (version is not LOWEST)


def test_an_error_has_a_code_from_the_feature_on() -> None:
    error = {"status": 404, "title": "Not Found", "detail": "", "request_id": "req-1"}
    for version in VERSIONS:
        schema = at(version)["components"]["schemas"]["errors"]
        assert jsonschema_rs.is_valid(schema, {"errors": [error]}) is not version.has(F.ERROR_CODES)
        with_code = {"errors": [error | {"code": "placement.undefined_code"}]}
        assert jsonschema_rs.is_valid(schema, with_code) is version.has(F.ERROR_CODES)


def test_the_server_is_the_prefix() -> None:
    assert placement_document(LOWEST, {}, "/placement")["servers"] == [{"url": "/placement"}]


def test_the_operations_of_the_page_and_the_documents_need_no_token() -> None:
    without = {name for name, operation in operations(v1()).items() if operation.get("security") == []}
    assert without == {route.name for route in V1_ROUTES if route.rule is None}


GOOD_HEADERS = {
    "content-type": "application/json",
    "openstack-api-version": "placement 1.39",
    "vary": "openstack-api-version",
    "x-openstack-request-id": f"req-{UUID}",
    "cache-control": "no-cache",
}
GOOD_BODY = b'{"traits": ["A"], "resource_provider_generation": 1}'


def check(status: int = 200, body: bytes = GOOD_BODY, **headers: str | None) -> list[str]:
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in (GOOD_HEADERS | changed).items() if value is not None}
    path = f"/resource_providers/{UUID}/traits"
    return Checker(at(HIGHEST)).violations("GET", path, status, sent, body)


def test_a_response_as_documented_has_no_violation() -> None:
    assert check() == []


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (check(status=418), "status 418"),
        (check(body=b'{"traits": ["A"]}'), "resource_provider_generation"),
        (check(body=b'{"traits": "A", "resource_provider_generation": 1}'), "not of type"),
        (check(body=b'{"traits": [], "resource_provider_generation": 1, "x": 1}'), "'x' was unexpected"),
        (check(content_type="text/plain"), "media type 'text/plain'"),
        (check(vary=None), "header vary is missing"),
        (check(openstack_api_version="placement 1.38"), "header openstack-api-version"),
        (check(location="/traits"), "header location is not documented"),
    ],
)
def test_the_checker_of_the_tests_finds_violations(found: list[str], text: str) -> None:
    assert len(found) == 1
    assert text in found[0]
