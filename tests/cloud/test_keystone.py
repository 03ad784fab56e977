# SPDX-License-Identifier: Apache-2.0

"""The rights of tokens of a real Keystone: each response equals that of the reference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.cloud.keystone import ADMIN, Keystone, User
from tests.cloud.services import Both, both

DEADLINE_SECONDS = 30


@pytest.fixture(scope="module")
def services(
    keystone: Keystone, users: dict[str, User], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    section = keystone.authtoken(service_type="placement")
    with both(tmp_path_factory.mktemp("services"), section) as running:
        yield running


@pytest.fixture(scope="module")
def uncached(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Services without a token cache."""
    with both(tmp_path_factory.mktemp("uncached"), keystone.authtoken(token_cache_time=-1)) as running:
        yield running


EVERYTHING = ("list", "create", "own usages", "other usages")
MAY = {
    "admin": EVERYTHING,
    "service": (*EVERYTHING, "reshape"),
    "manager": ("own usages",),
    "member": ("own usages",),
    "reader": ("own usages",),
    "bystander": (),
}


@pytest.mark.parametrize("who", MAY)
def test_each_role_has_the_rights_of_the_policy(
    services: Both, keystone: Keystone, users: dict[str, User], who: str
) -> None:
    token = keystone.token(users[who])
    uuid = str(uuid4())
    nothing = {"resource_provider_generation": 0, "inventories": {}}
    responses = {
        "list": services.send("GET", "/resource_providers", token),
        "create": services.send("POST", "/resource_providers", token, {"name": uuid, "uuid": uuid}),
        "own usages": services.send("GET", f"/usages?project_id={keystone.project('engines')}", token),
        "other usages": services.send("GET", f"/usages?project_id={keystone.project('looms')}", token),
        "reshape": services.send(
            "POST", "/reshaper", token, {"inventories": {uuid: nothing}, "allocations": {}}
        ),
    }
    assert {what for what, response in responses.items() if response.status in (200, 204)} == set(MAY[who])
    assert {response.status for what, response in responses.items() if what not in MAY[who]} <= {403}
    assert services.send("GET", "/nothing", token).status == 404


def test_a_reader_of_two_projects_sees_only_the_project_of_the_token(
    services: Both, keystone: Keystone
) -> None:
    reader = keystone.user("ria", "engines", "reader")
    keystone.grant(reader, "reader", "looms")
    for project, other in (("engines", "looms"), ("looms", "engines")):
        token = keystone.token(reader, project)
        assert services.send("GET", f"/usages?project_id={keystone.project(project)}", token).status == 200
        assert services.send("GET", f"/usages?project_id={keystone.project(other)}", token).status == 403


def test_a_system_token_has_no_rights(services: Both, keystone: Keystone) -> None:
    """The rules require tokens of projects. Our text explains that; the reference's has only the name of the rule."""
    auditor = keystone.user("aud")
    keystone.grant(auditor, "reader")
    for user in (ADMIN, auditor):
        token = keystone.token(user, system=True)
        for path in ("/resource_providers", f"/usages?project_id={keystone.project('engines')}"):
            ours, theirs = (service.send("GET", path, token) for service in services)
            assert (ours.status, theirs.status) == (403, 403)
            assert "Policy does not allow placement:" in ours.json["errors"][0]["detail"]
        assert services.send("GET", "/nothing", token).status == 404


@pytest.mark.parametrize("token", [None, "", "garbage", "g\xe4rbage", "gAAAAAB" + "x" * 200])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_invalid_token_gets_a_401_with_the_address_of_keystone(
    services: Both, keystone: Keystone, token: str | None, method: str
) -> None:
    response = services.send(method, "/resource_providers", token)
    assert (response.status, response.headers["content-type"]) == (401, "application/json")
    assert response.headers["www-authenticate"] == f'Keystone uri="{keystone.url}"'
    assert response.json["error"]["code"] == 401


def test_forged_identity_headers_are_ignored(services: Both, keystone: Keystone) -> None:
    claims = {"x_roles": "admin", "x_user_id": "admin", "x_identity_status": "Confirmed"}
    assert services.send("GET", "/resource_providers", **claims).status == 401
    token = keystone.token(keystone.user("rob", "engines", "reader"))
    assert services.send("GET", "/resource_providers", token, **claims).status == 403


@pytest.mark.parametrize("accept", ["application/json", "text/html", "*/*", "image/png"])
def test_only_the_version_document_needs_no_token(services: Both, accept: str) -> None:
    for path in ("/", ""):
        for token in (None, "garbage"):
            assert services.send("GET", path, token, accept=accept).status == 200
    assert services.send("GET", "/traits", accept=accept).status == 401


def test_a_token_expires_also_if_it_is_cached(services: Both, keystone: Keystone) -> None:
    with keystone.issuing_for(10) as port:
        unseen, seen = keystone.token_from(port), keystone.token_from(port)
        assert services.send("GET", "/resource_providers", seen).status == 200
    _until_401(services, seen)
    assert services.send("GET", "/resource_providers", unseen).status == 401


def test_a_service_token_permits_an_expired_user_token(
    services: Both, keystone: Keystone, users: dict[str, User]
) -> None:
    """At the end of a long task nova sends the user's token together with its own."""
    with keystone.issuing_for(1) as port:
        expired = keystone.token_from(port)
        time.sleep(2)
    service, reader = keystone.token(users["service"]), keystone.token(users["reader"])
    request = ("GET", "/resource_providers")
    assert services.send(*request, expired).status == 401
    assert services.send(*request, expired, x_service_token=service).status == 200
    assert services.send(*request, expired, x_service_token=reader).status == 401
    assert services.send(*request, expired).status == 401, "it was valid only with the service's token"


def test_service_tokens_must_be_valid_themselves(
    services: Both, keystone: Keystone, users: dict[str, User]
) -> None:
    user, service = keystone.token(), keystone.token(users["service"])
    for other in ("garbage", keystone.token(users["reader"])):
        assert services.send("GET", "/resource_providers", user, x_service_token=other).status == 401
    assert services.send("GET", "/resource_providers", user, x_service_token=service).status == 200
    assert services.send("GET", "/resource_providers", x_service_token=service).status == 401


def test_a_revoked_token_is_refused(uncached: Both, keystone: Keystone) -> None:
    token = keystone.token()
    assert uncached.send("GET", "/resource_providers", token).status == 200
    keystone.revoke(token)
    assert uncached.send("GET", "/resource_providers", token).status == 401


def test_a_revoked_token_stays_valid_while_it_is_cached(services: Both, keystone: Keystone) -> None:
    """For token_cache_time, by default five minutes."""
    known, unknown = keystone.token(), keystone.token()
    assert services.send("GET", "/resource_providers", known).status == 200
    keystone.revoke(known)
    keystone.revoke(unknown)
    assert services.send("GET", "/resource_providers", known).status == 200
    assert services.send("GET", "/resource_providers", unknown).status == 401


def test_a_cached_token_expires(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> None:
    section = keystone.authtoken(token_cache_time=2)
    with both(tmp_path_factory.mktemp("brief"), section) as brief:
        token = keystone.token()
        assert brief.send("GET", "/resource_providers", token).status == 200
        keystone.revoke(token)
        _until_401(brief, token)


def test_without_memcached_a_worker_validates_a_token_once(
    services: Both, uncached: Both, keystone: Keystone
) -> None:
    def count_validations(times: int, service: Both) -> int:
        token, before = keystone.token(), keystone.validations()
        for _ in range(times):
            assert service.ours.send("GET", "/resource_providers", token).status == 200
        return keystone.validations() - before

    assert count_validations(5, services) == 1
    assert count_validations(5, uncached) == 5


def test_access_rules_of_application_credentials_are_enforced(
    services: Both, uncached: Both, keystone: Keystone
) -> None:
    keystone.endpoint("placement", services.ours.url)
    token = keystone.restricted_token(ADMIN, ("GET", "/resource_providers"))
    before = keystone.validations()
    for _ in range(2):
        assert services.send("GET", "/resource_providers", token).status == 200
        assert services.send("GET", "/traits", token).status == 401
        assert services.send("DELETE", "/resource_providers", token).status == 401
    assert keystone.validations() - before == 2, "one for each: both remember it"
    assert uncached.send("GET", "/resource_providers", token).status == 401, "it does not know its own type"


def _until_401(services: Both, token: str) -> None:
    for service in services:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while service.send("GET", "/resource_providers", token).status != 401:
            assert time.monotonic() < deadline
            time.sleep(0.2)
