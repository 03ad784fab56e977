# SPDX-License-Identifier: Apache-2.0

"""Every declaration of a route of the Plimsoll API is complete, and its rule exists."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema_rs
import pytest

from plimsoll.access.policy_rules import V1_RULES
from plimsoll.api.v1.request import ALL_PROJECTS
from plimsoll.api.v1.route import V1Route
from plimsoll.api.v1.routes import ROUTES
from tests.support.api import Api, api
from tests.support.wsgi import environ

EVERY_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
OPERATIONS = {
    rule.name: {f"{each['method']} {each['path']}" for each in rule.operations} for rule in V1_RULES
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("routes") / "placement.sqlite"


def path_of(route: V1Route) -> str:
    return re.sub(r"\{\w+\}", "nothing", route.path)


@EVERY_ROUTE
def test_the_rule_of_a_route_is_documented_with_it(route: V1Route) -> None:
    if route.rule is not None:
        assert route.name in OPERATIONS[route.rule]


def test_each_route_that_a_rule_names_exists() -> None:
    rules_of_routes = {route.rule for route in ROUTES}
    declared = {route.name for route in ROUTES}
    assert [name for name in rules_of_routes if name is not None and not OPERATIONS[name] <= declared] == []
    assert ALL_PROJECTS in OPERATIONS


@EVERY_ROUTE
def test_paths_are_below_v1_and_texts_are_there(route: V1Route) -> None:
    assert route.path.startswith("/plimsoll/v1/")
    assert route.summary
    assert 200 in route.returns
    assert all(parameter.description for parameter in route.parameters)


@EVERY_ROUTE
def test_schemas_are_valid_and_convertible(route: V1Route) -> None:
    for parameter in route.parameters:
        jsonschema_rs.meta.validate(dict(parameter.schema))
        assert parameter.schema["type"] in ("string", "integer", "boolean")
    for document in route.returns.values():
        if document is not None:
            jsonschema_rs.meta.validate(
                {"$schema": "https://json-schema.org/draft/2020-12/schema", **document.schema}
            )


def test_documents_with_one_name_are_one_document() -> None:
    documents = {document for route in ROUTES for document in route.returns.values() if document}
    assert len({document.name for document in documents}) == len(documents)


@EVERY_ROUTE
def test_only_routes_without_a_rule_need_no_token(served: Path, route: V1Route) -> None:
    with api(served) as client:
        status = status_without_token(client, route)
    assert (status == 401) is (route.rule is not None)


def status_without_token(client: Api, route: V1Route) -> int:
    started: list[str] = []
    given = environ(route.method, path_of(route), b"", [("Accept", route.formats[0])])
    list(client.application(given, lambda status, *_: started.append(status)))  # type: ignore[arg-type]
    return int(started[0][:3])
