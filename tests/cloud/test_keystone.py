# SPDX-License-Identifier: Apache-2.0

"""Who may do what with which token, under a real Keystone: each answer is the reference's, asked beside us."""

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
    keystone: Keystone, people: dict[str, User], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Both]:
    section = keystone.authtoken(service_type="placement")
    with both(tmp_path_factory.mktemp("services"), section) as running:
        yield running


@pytest.fixture(scope="module")
def uncached(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Services that ask Keystone each time."""
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
def test_a_role_may_do_what_the_policy_says(
    services: Both, keystone: Keystone, people: dict[str, User], who: str
) -> None:
    token = keystone.token(people[who])
    uuid = str(uuid4())
    nothing = {"resource_provider_generation": 0, "inventories": {}}
    answers = {
        "list": services.ask("GET", "/resource_providers", token),
        "create": services.ask("POST", "/resource_providers", token, {"name": uuid, "uuid": uuid}),
        "own usages": services.ask("GET", f"/usages?project_id={keystone.project('engines')}", token),
        "other usages": services.ask("GET", f"/usages?project_id={keystone.project('looms')}", token),
        "reshape": services.ask(
            "POST", "/reshaper", token, {"inventories": {uuid: nothing}, "allocations": {}}
        ),
    }
    assert {what for what, answer in answers.items() if answer.status in (200, 204)} == set(MAY[who])
    assert {answer.status for what, answer in answers.items() if what not in MAY[who]} <= {403}
    assert services.ask("GET", "/nothing", token).status == 404


def test_a_reader_of_two_projects_sees_the_one_that_the_token_is_for(
    services: Both, keystone: Keystone
) -> None:
    reader = keystone.user("ria", "engines", "reader")
    keystone.grant(reader, "reader", "looms")
    for project, other in (("engines", "looms"), ("looms", "engines")):
        token = keystone.token(reader, project)
        assert services.ask("GET", f"/usages?project_id={keystone.project(project)}", token).status == 200
        assert services.ask("GET", f"/usages?project_id={keystone.project(other)}", token).status == 403


def test_a_token_of_the_system_is_for_no_project_and_may_nothing(services: Both, keystone: Keystone) -> None:
    """The rules are for tokens of projects. Our words for it are better: the reference's are the rule's name alone."""
    auditor = keystone.user("aud")
    keystone.grant(auditor, "reader")
    for user in (ADMIN, auditor):
        token = keystone.token(user, system=True)
        for path in ("/resource_providers", f"/usages?project_id={keystone.project('engines')}"):
            ours, theirs = (service.ask("GET", path, token) for service in services)
            assert (ours.status, theirs.status) == (403, 403)
            assert "Policy does not allow placement:" in ours.json["errors"][0]["detail"]
        assert services.ask("GET", "/nothing", token).status == 404


@pytest.mark.parametrize("token", [None, "", "garbage", "g\xe4rbage", "gAAAAAB" + "x" * 200])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_what_is_no_token_is_a_401_that_says_where_to_go(
    services: Both, keystone: Keystone, token: str | None, method: str
) -> None:
    answer = services.ask(method, "/resource_providers", token)
    assert (answer.status, answer.headers["content-type"]) == (401, "application/json")
    assert answer.headers["www-authenticate"] == f'Keystone uri="{keystone.url}"'
    assert answer.json["error"]["code"] == 401


def test_headers_that_a_caller_makes_up_are_not_believed(services: Both, keystone: Keystone) -> None:
    claims = {"x_roles": "admin", "x_user_id": "admin", "x_identity_status": "Confirmed"}
    assert services.ask("GET", "/resource_providers", **claims).status == 401
    token = keystone.token(keystone.user("rob", "engines", "reader"))
    assert services.ask("GET", "/resource_providers", token, **claims).status == 403


@pytest.mark.parametrize("accept", ["application/json", "text/html", "*/*", "image/png"])
def test_the_version_document_is_open_and_nothing_else(services: Both, accept: str) -> None:
    for path in ("/", ""):
        for token in (None, "garbage"):
            assert services.ask("GET", path, token, accept=accept).status == 200
    assert services.ask("GET", "/traits", accept=accept).status == 401


def test_a_token_ends_when_it_expires_also_one_that_is_remembered(services: Both, keystone: Keystone) -> None:
    with keystone.issuing_for(10) as port:
        unseen, seen = keystone.token_from(port), keystone.token_from(port)
        assert services.ask("GET", "/resource_providers", seen).status == 200
    _until_401(services, seen)
    assert services.ask("GET", "/resource_providers", unseen).status == 401


def test_a_service_may_speak_for_one_whose_token_has_expired(
    services: Both, keystone: Keystone, people: dict[str, User]
) -> None:
    """What nova does at the end of a long task: the user's token, and its own beside it."""
    with keystone.issuing_for(1) as port:
        expired = keystone.token_from(port)
        time.sleep(2)
    service, reader = keystone.token(people["service"]), keystone.token(people["reader"])
    asked = ("GET", "/resource_providers")
    assert services.ask(*asked, expired).status == 401
    assert services.ask(*asked, expired, x_service_token=service).status == 200
    assert services.ask(*asked, expired, x_service_token=reader).status == 401
    assert services.ask(*asked, expired).status == 401, "it was good with the service's token alone"


def test_service_tokens_must_be_good_themselves(
    services: Both, keystone: Keystone, people: dict[str, User]
) -> None:
    user, service = keystone.token(), keystone.token(people["service"])
    for other in ("garbage", keystone.token(people["reader"])):
        assert services.ask("GET", "/resource_providers", user, x_service_token=other).status == 401
    assert services.ask("GET", "/resource_providers", user, x_service_token=service).status == 200
    assert services.ask("GET", "/resource_providers", x_service_token=service).status == 401


def test_a_revoked_token_is_good_for_nothing(uncached: Both, keystone: Keystone) -> None:
    token = keystone.token()
    assert uncached.ask("GET", "/resource_providers", token).status == 200
    keystone.revoke(token)
    assert uncached.ask("GET", "/resource_providers", token).status == 401


def test_a_revoked_token_that_is_remembered_lives_on_for_as_long(services: Both, keystone: Keystone) -> None:
    """As token_cache_time says: five minutes, unless the operator says otherwise."""
    known, unknown = keystone.token(), keystone.token()
    assert services.ask("GET", "/resource_providers", known).status == 200
    keystone.revoke(known)
    keystone.revoke(unknown)
    assert services.ask("GET", "/resource_providers", known).status == 200
    assert services.ask("GET", "/resource_providers", unknown).status == 401


def test_a_remembered_token_is_forgotten_in_time(
    keystone: Keystone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    section = keystone.authtoken(token_cache_time=2)
    with both(tmp_path_factory.mktemp("brief"), section) as brief:
        token = keystone.token()
        assert brief.ask("GET", "/resource_providers", token).status == 200
        keystone.revoke(token)
        _until_401(brief, token)


def test_without_memcached_a_worker_asks_once_about_a_token(
    services: Both, uncached: Both, keystone: Keystone
) -> None:
    def asked(times: int, service: Both) -> int:
        token, before = keystone.token(), keystone.validations()
        for _ in range(times):
            assert service.ours.ask("GET", "/resource_providers", token).status == 200
        return keystone.validations() - before

    assert asked(5, services) == 1
    assert asked(5, uncached) == 5


def test_an_application_is_held_to_its_access_rules(
    services: Both, uncached: Both, keystone: Keystone
) -> None:
    keystone.endpoint("placement", services.ours.url)
    token = keystone.restricted_token(ADMIN, ("GET", "/resource_providers"))
    before = keystone.validations()
    for _ in range(2):
        assert services.ask("GET", "/resource_providers", token).status == 200
        assert services.ask("GET", "/traits", token).status == 401
        assert services.ask("DELETE", "/resource_providers", token).status == 401
    assert keystone.validations() - before == 2, "one for each: both remember it"
    assert uncached.ask("GET", "/resource_providers", token).status == 401, "it does not know its own type"


def _until_401(services: Both, token: str) -> None:
    for service in services:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while service.ask("GET", "/resource_providers", token).status != 401:
            assert time.monotonic() < deadline
            time.sleep(0.2)
