# SPDX-License-Identifier: Apache-2.0

"""Every declaration of a route is true: each field is compared with what the service does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from plimsoll.access.policy_rules import RULES
from plimsoll.api.placement.documents.table import ERROR
from plimsoll.api.placement.error_tables import TEMPLATES_BY_ROUTE
from plimsoll.api.placement.microversion import HIGHEST, VERSIONS, Version
from plimsoll.api.placement.preconditions import OnlyWith, Since, accepts_json, sends_json
from plimsoll.api.placement.route import Route
from plimsoll.api.placement.router import Router
from plimsoll.api.placement.routes import ROUTES
from plimsoll.http.problems import Problem
from tests.support.api import NO_BODY, Api, Response, api

HOST = "10000000-0000-0000-0000-000000000001"
CHILD = "10000000-0000-0000-0000-000000000002"
MISSING = "10000000-0000-0000-0000-00000000dead"
CONSUMER = "c0000000-0000-0000-0000-000000000001"
OTHER = "c0000000-0000-0000-0000-000000000002"

EXISTING = {"uuid": HOST, "resource_class": "VCPU", "name": "CUSTOM_A", "consumer_uuid": CONSUMER}
NOT_EXISTING = {"uuid": MISSING, "resource_class": "PCPU", "name": "CUSTOM_Z", "consumer_uuid": CONSUMER}
"""Values of the paths of DELETE, so that nothing is deleted that a later test needs."""
OF_EVERY_ROUTE = {401, 403, 500, 503}
BAD_BODY = b'{"no such member": 1}'
BAD_QUERY = "project_id=p&no_such_parameter=1"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api(tmp_path_factory.mktemp("routes") / "placement.sqlite") as served:
        served.host(HOST, VCPU=10)
        assert served.put("/resource_classes/CUSTOM_A").status == 201
        assert served.put("/traits/CUSTOM_A").status == 201
        yield served


def versions_of(route: Route) -> list[Version]:
    """Return the versions at which the route exists."""
    features = [check.feature for check in route.checks if isinstance(check, Since | OnlyWith)]
    # The next route of the same path has no check of its own: the one before it has.
    replaced = [other.until for other in ROUTES if other.name == route.name and other.until]
    if route.until is None:
        features += replaced
    return [
        version
        for version in VERSIONS
        if all(map(version.has, features)) and not (route.until and version.has(route.until))
    ]


def send(served: Api, route: Route, version: Version = HIGHEST, query: str = "", **more: Any) -> Response:
    path = route.path.format(**(NOT_EXISTING if route.method == "DELETE" else EXISTING))
    return served.call(route.method, f"{path}?{query}" if query else path, version=version.text, **more)


EVERY_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)


@EVERY_ROUTE
def test_the_declared_schema_refuses_a_bad_body(served: Api, route: Route) -> None:
    if route.method == "GET":
        assert route.body is None
        return
    for version in versions_of(route):
        response = send(served, route, version, raw=BAD_BODY)
        if route.body is None:
            assert response.status != 400
            continue
        with pytest.raises(Problem) as refused:
            route.body.read(BAD_BODY, version)
        assert response.status == 400
        assert refused.value.detail in response.detail


@EVERY_ROUTE
def test_the_declared_parser_refuses_a_bad_query(served: Api, route: Route) -> None:
    if route.method != "GET":
        assert route.query is None
        return
    for version in versions_of(route):
        response = send(served, route, version, BAD_QUERY)
        if route.query is None:
            assert response.status in route.returns
            continue
        with pytest.raises(Problem) as refused:
            route.query(BAD_QUERY, version)
        assert response.status == 400
        assert refused.value.detail in response.detail


@EVERY_ROUTE
def test_a_route_exists_from_its_feature_on(served: Api, route: Route) -> None:
    for check in route.checks:
        if isinstance(check, Since):
            before = send(served, route, VERSIONS[check.feature.minor - 1], raw=BAD_BODY)
            assert before.status == check.otherwise
            assert f"since microversion {check.feature.version}" in before.detail


@EVERY_ROUTE
def test_media_types_are_checked_where_it_is_declared(served: Api, route: Route) -> None:
    version = versions_of(route)[-1]
    plain = {"Accept": "text/plain", "Content-Type": "text/plain"}
    status = send(served, route, version, BAD_QUERY, raw=BAD_BODY, headers=plain).status
    assert (status == 406) is (accepts_json in route.checks)
    assert (status == 415) is (sends_json in route.checks)


def test_every_rule_exists_and_is_documented_for_its_route() -> None:
    documented = {
        (rule.name, f"{operation['method']} {operation['path']}")
        for rule in RULES
        for operation in rule.operations
    }
    used = {(route.rule, route.name) for route in ROUTES if route.rule is not None}
    assert used == documented


def test_only_the_version_document_needs_no_policy_rule() -> None:
    assert {route.path for route in ROUTES if route.rule is None} == {"", "/"}


def statuses(route: Route) -> set[int]:
    """Return the declared statuses, and those that follow from the other fields."""
    found = set(route.returns) | OF_EVERY_ROUTE
    if route.body is not None:
        found |= {400, 413}
    if route.query is not None:
        found.add(400)
    return found


def test_the_status_of_every_refusal_is_declared() -> None:
    declared: dict[str, set[int]] = defaultdict(set)
    for route in ROUTES:
        declared[route.name] |= statuses(route)
    for name, templates in TEMPLATES_BY_ROUTE.items():
        assert {template.status for template in templates.values()} <= declared[name], name


def inventory(total: int = 10, **more: Any) -> dict[str, Any]:
    return {"total": total, **more}


def claim(vcpu: int, generation: int | None = None) -> dict[str, Any]:
    return {
        "allocations": {HOST: {"resources": {"VCPU": vcpu}}} if vcpu else {},
        **{"project_id": "p", "user_id": "u", "consumer_type": "T", "consumer_generation": generation},
    }


def reshape(generation: int) -> dict[str, Any]:
    inventories = {"resource_provider_generation": generation, "inventories": {"VCPU": inventory()}}
    return {"inventories": {HOST: inventories}, "allocations": {}}


STALE: dict[str, Any] = {"resource_provider_generation": 99}


class Step(NamedTuple):
    status: int
    method: str
    path: str
    body: Any = NO_BODY
    version: str = "1.39"


_HOST, _MISSING = f"/resource_providers/{HOST}", f"/resource_providers/{MISSING}"
STEPS = (  # each on the state that the ones before have produced
    Step(200, "GET", "/"),
    Step(200, "GET", ""),
    Step(201, "POST", "/resource_classes", {"name": "CUSTOM_A"}),
    Step(409, "POST", "/resource_classes", {"name": "CUSTOM_A"}),
    Step(200, "GET", "/resource_classes"),
    Step(200, "GET", "/resource_classes/CUSTOM_A"),
    Step(404, "GET", "/resource_classes/CUSTOM_B"),
    Step(200, "PUT", "/resource_classes/CUSTOM_A", {"name": "CUSTOM_B"}, "1.6"),
    Step(404, "PUT", "/resource_classes/CUSTOM_A", {"name": "CUSTOM_B"}, "1.6"),
    Step(201, "PUT", "/resource_classes/CUSTOM_A"),
    Step(409, "PUT", "/resource_classes/CUSTOM_A", {"name": "CUSTOM_B"}, "1.6"),
    Step(204, "PUT", "/resource_classes/CUSTOM_A"),
    Step(400, "PUT", "/resource_classes/VCPU"),
    Step(201, "POST", "/resource_providers", {"name": "child", "uuid": CHILD}, "1.19"),
    Step(409, "POST", "/resource_providers", {"name": "child", "uuid": CHILD}, "1.19"),
    Step(200, "POST", "/resource_providers", {"name": "host", "uuid": HOST}),
    Step(409, "POST", "/resource_providers", {"name": "host", "uuid": HOST}),
    Step(200, "GET", "/resource_providers"),
    Step(200, "GET", _HOST),
    Step(404, "GET", _MISSING),
    Step(200, "PUT", f"/resource_providers/{CHILD}", {"name": "child", "parent_provider_uuid": HOST}),
    Step(409, "PUT", f"/resource_providers/{CHILD}", {"name": "host", "parent_provider_uuid": HOST}),
    Step(404, "PUT", _MISSING, {"name": "other"}),
    Step(409, "DELETE", _HOST),
    Step(204, "DELETE", f"/resource_providers/{CHILD}"),
    Step(404, "DELETE", f"/resource_providers/{CHILD}"),
    Step(201, "POST", f"{_HOST}/inventories", inventory(resource_class="CUSTOM_A")),
    Step(409, "POST", f"{_HOST}/inventories", inventory(resource_class="CUSTOM_A")),
    Step(404, "POST", f"{_MISSING}/inventories", inventory(resource_class="CUSTOM_A")),
    Step(409, "DELETE", "/resource_classes/CUSTOM_A"),
    Step(400, "DELETE", "/resource_classes/VCPU"),
    Step(
        200,
        "PUT",
        f"{_HOST}/inventories",
        {"resource_provider_generation": 1, "inventories": {"VCPU": inventory()}},
    ),
    Step(409, "PUT", f"{_HOST}/inventories", STALE | {"inventories": {}}),
    Step(404, "PUT", f"{_MISSING}/inventories", STALE | {"inventories": {}}),
    Step(204, "DELETE", "/resource_classes/CUSTOM_A"),
    Step(404, "DELETE", "/resource_classes/CUSTOM_A"),
    Step(200, "GET", f"{_HOST}/inventories"),
    Step(404, "GET", f"{_MISSING}/inventories"),
    Step(200, "GET", f"{_HOST}/inventories/VCPU"),
    Step(404, "GET", f"{_HOST}/inventories/PCPU"),
    Step(200, "PUT", f"{_HOST}/inventories/VCPU", inventory(9, resource_provider_generation=2)),
    Step(409, "PUT", f"{_HOST}/inventories/VCPU", inventory() | STALE),
    Step(404, "PUT", f"{_MISSING}/inventories/VCPU", inventory() | STALE),
    Step(204, "PUT", f"/allocations/{CONSUMER}", claim(1)),
    Step(409, "PUT", f"/allocations/{CONSUMER}", claim(1)),
    Step(204, "POST", "/allocations", {OTHER: claim(1)}),
    Step(409, "POST", "/allocations", {OTHER: claim(1)}),
    Step(200, "GET", f"/allocations/{CONSUMER}"),
    Step(200, "GET", "/allocations?project_id=p"),
    Step(200, "GET", f"{_HOST}/allocations"),
    Step(404, "GET", f"{_MISSING}/allocations"),
    Step(200, "GET", f"{_HOST}/usages"),
    Step(404, "GET", f"{_MISSING}/usages"),
    Step(200, "GET", "/usages?project_id=p"),
    Step(200, "GET", "/allocation_candidates?resources=VCPU:1"),
    Step(409, "DELETE", f"{_HOST}/inventories"),
    Step(409, "DELETE", f"{_HOST}/inventories/VCPU"),
    Step(409, "POST", "/reshaper", reshape(99)),
    Step(204, "POST", "/reshaper", reshape(5)),
    Step(204, "DELETE", f"/allocations/{CONSUMER}"),
    Step(404, "DELETE", f"/allocations/{CONSUMER}"),
    Step(204, "DELETE", f"/allocations/{OTHER}"),
    Step(204, "DELETE", f"{_HOST}/inventories/VCPU"),
    Step(404, "DELETE", f"{_HOST}/inventories/VCPU"),
    Step(204, "DELETE", f"{_HOST}/inventories"),
    Step(404, "DELETE", f"{_MISSING}/inventories"),
    Step(200, "GET", f"{_HOST}/aggregates"),
    Step(404, "GET", f"{_MISSING}/aggregates"),
    Step(200, "PUT", f"{_HOST}/aggregates", [CONSUMER], "1.18"),
    Step(409, "PUT", f"{_HOST}/aggregates", STALE | {"aggregates": []}),
    Step(404, "PUT", f"{_MISSING}/aggregates", STALE | {"aggregates": []}),
    Step(201, "PUT", "/traits/CUSTOM_A"),
    Step(204, "PUT", "/traits/CUSTOM_A"),
    Step(400, "PUT", "/traits/STANDARD"),
    Step(200, "GET", "/traits"),
    Step(204, "GET", "/traits/CUSTOM_A"),
    Step(404, "GET", "/traits/CUSTOM_B"),
    Step(200, "PUT", f"{_HOST}/traits", {"resource_provider_generation": 9, "traits": ["CUSTOM_A"]}),
    Step(409, "PUT", f"{_HOST}/traits", STALE | {"traits": []}),
    Step(404, "PUT", f"{_MISSING}/traits", STALE | {"traits": []}),
    Step(200, "GET", f"{_HOST}/traits"),
    Step(404, "GET", f"{_MISSING}/traits"),
    Step(409, "DELETE", "/traits/CUSTOM_A"),
    Step(400, "DELETE", "/traits/HW_CPU_X86_VMX"),
    Step(204, "DELETE", f"{_HOST}/traits"),
    Step(404, "DELETE", f"{_MISSING}/traits"),
    Step(204, "DELETE", "/traits/CUSTOM_A"),
    Step(404, "DELETE", "/traits/CUSTOM_A"),
)


def route_of(step: Step) -> Route:
    found = Router(ROUTES).find(step.path.partition("?")[0])
    assert found is not None
    route = found[0].route(step.method, VERSIONS[int(step.version.removeprefix("1."))])
    assert route is not None
    return route


def test_every_declared_status_occurs_with_the_declared_document(tmp_path: Path) -> None:
    occurred: dict[Route, set[int]] = defaultdict(set)
    with api(tmp_path / "placement.sqlite") as served:
        for step in STEPS:
            response = served.call(step.method, step.path, step.body, step.version)
            assert response.status == step.status, (step, response.body)
            route = route_of(step)
            occurred[route].add(step.status)
            document = route.returns[step.status]
            assert (document is None) is (response.body == b"")
            assert (document == ERROR) is (b'"errors"' in response.body)
    for route in ROUTES:
        assert occurred[route] == set(route.returns), route.name
