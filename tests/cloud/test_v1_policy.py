# SPDX-License-Identifier: Apache-2.0

"""The rights of tokens of a real Keystone for every route of the Plimsoll API."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from plimsoll.api.v1.route import V1Route
from plimsoll.api.v1.routes import ROUTES
from tests.cloud.keystone import ADMIN, Keystone, User
from tests.cloud.services import Plimsoll

EVERY_ROUTE = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
WITH_RULE = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.rule is not None], ids=lambda route: route.name
)
HOST, CONSUMER = str(uuid4()), str(uuid4())
IN_PATHS = {"{provider}": HOST, "{uuid}": CONSUMER}
ALLOWED = {
    "admin": True,
    "service": True,
    "manager": True,
    "member": True,
    "reader": True,
    "bystander": False,
}
"""Keystone gives managers and members the role reader too. A bystander has only a role of that name."""


@pytest.fixture(scope="module")
def service(
    keystone: Keystone, users: dict[str, User], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plimsoll]:
    """A service with a host on which an instance of the project `engines` runs."""
    with Plimsoll(tmp_path_factory.mktemp("v1"), keystone.authtoken(service_type="placement")) as service:
        token = keystone.token(users["service"])
        body = {"name": "host", "uuid": HOST}
        assert service.send("POST", "/resource_providers", token, body).status == 200
        inventories = {"resource_provider_generation": 0, "inventories": {"VCPU": {"total": 8}}}
        path = f"/resource_providers/{HOST}/inventories"
        assert service.send("PUT", path, token, inventories).status == 200
        claim = {
            "allocations": {HOST: {"resources": {"VCPU": 1}}},
            "project_id": keystone.project("engines"),
            "user_id": users["member"].id,
            "consumer_generation": None,
            "consumer_type": "INSTANCE",
        }
        assert service.send("PUT", f"/allocations/{CONSUMER}", token, claim).status == 204
        yield service


def target_of(route: V1Route) -> str:
    path = route.path
    for name, value in IN_PATHS.items():
        path = path.replace(name, value)
    return f"{path}?resources=VCPU:1" if route.candidates_query else path


def status_of(service: Plimsoll, route: V1Route, token: str | None) -> int:
    return service.send(route.method, target_of(route), token, accept=route.formats[0]).status


@WITH_RULE
def test_each_role_may_read_what_the_policy_allows(
    service: Plimsoll, keystone: Keystone, users: dict[str, User], route: V1Route
) -> None:
    statuses = {who: status_of(service, route, keystone.token(users[who])) for who in ALLOWED}
    assert statuses == {who: 200 if allowed else 403 for who, allowed in ALLOWED.items()}


@EVERY_ROUTE
def test_a_token_is_needed_where_there_is_a_rule(service: Plimsoll, route: V1Route) -> None:
    for token in (None, "garbage"):
        assert (status_of(service, route, token) == 401) is (route.rule is not None)


@WITH_RULE
def test_a_token_of_the_system_has_no_rights(service: Plimsoll, keystone: Keystone, route: V1Route) -> None:
    assert status_of(service, route, keystone.token(ADMIN, system=True)) == 403


def test_usage_of_owners_is_shown_for_the_project_of_the_token(
    service: Plimsoll, keystone: Keystone, users: dict[str, User]
) -> None:
    engines, looms = keystone.project("engines"), keystone.project("looms")
    stranger = keystone.user("sam", "looms", "reader")
    path = "/plimsoll/v1/usage?group_by=project"
    seen = {
        who.name: [each["group"] for each in service.send("GET", path, keystone.token(who)).json["groups"]]
        for who in (users["admin"], users["reader"], stranger)
    }
    assert seen == {users["admin"].name: [engines], users["reader"].name: [engines], "sam": []}
    token = keystone.token(stranger)
    assert service.send("GET", f"{path}&project={looms}", token).status == 200
    assert service.send("GET", f"{path}&project={engines}", token).status == 403
