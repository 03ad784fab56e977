# SPDX-License-Identifier: Apache-2.0

"""Sign-in to the console under a real Keystone: tokens, refusals, limits, and no password in a log."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from tests.cloud.keystone import PASSWORD, Keystone, User
from tests.cloud.services import Plimsoll, Response

PATH = "/console/sign-in"


@pytest.fixture(scope="module")
def service(
    keystone: Keystone, users: dict[str, User], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Plimsoll]:
    service = Plimsoll(tmp_path_factory.mktemp("service"), keystone.authtoken())
    with service:
        yield service


def sign_in(service: Plimsoll, user: str, password: str = PASSWORD, **more: str) -> Response:
    return service.send("POST", PATH, body={"user": user, "password": password, **more})


def test_a_password_gives_a_token_of_the_project(
    service: Plimsoll, keystone: Keystone, users: dict[str, User]
) -> None:
    answer = sign_in(service, "rea", project="engines", user_domain="Default")
    assert answer.status == 200, answer.body
    document = answer.json
    assert document["user"] == {"id": users["reader"].id, "name": "rea"}
    assert document["project"] == {"id": keystone.project("engines"), "name": "engines"}
    assert document["roles"] == ["reader"]
    assert answer.headers["cache-control"] == "no-store"
    listed = service.send("GET", "/plimsoll/v1/providers", document["token"])
    assert listed.status == 200
    assert service.send("PUT", "/traits/CUSTOM_X", document["token"]).status == 403


def test_ids_work_as_well_as_names(service: Plimsoll, keystone: Keystone) -> None:
    answer = sign_in(service, "max", project=keystone.project("engines"), user_domain="default")
    assert answer.json["project"]["name"] == "engines"


def test_without_a_project_the_token_has_none(service: Plimsoll) -> None:
    answer = sign_in(service, "mia")
    assert (answer.status, answer.json["project"], answer.json["roles"]) == (200, None, [])


@pytest.mark.parametrize(
    "wrong", [{"user": "ghost"}, {"password": "hunter2"}, {"project": "looms"}, {"user_domain": "Elsewhere"}]
)
def test_a_wrong_part_is_refused_with_one_sentence(service: Plimsoll, wrong: dict[str, str]) -> None:
    given = {"user": "ben", "password": PASSWORD, "project": "engines", "user_domain": "Default", **wrong}
    answer = service.send("POST", PATH, body=given)
    assert answer.status == 401
    assert answer.detail == "Keystone refused this user, password, domain or project."


def test_the_sixth_failed_attempt_of_a_user_must_wait(service: Plimsoll) -> None:
    statuses = [sign_in(service, "nobody-here", "hunter2").status for _ in range(6)]
    assert statuses == [401] * 5 + [429]
    answer = sign_in(service, "Nobody-Here", "hunter2")
    assert answer.status == 429
    assert 0 < int(answer.headers["retry-after"]) <= 61
    assert sign_in(service, "max", project="engines").status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ([], 400),
        ({"user": "rea"}, 400),
        ({"user": 5, "password": "x"}, 400),
        ({"user": "rea", "password": "x" * 1025}, 400),
        ({"user": "rea", "password": "x" * 9000}, 413),
    ],
)
def test_a_wrong_body_is_refused(service: Plimsoll, body: object, status: int) -> None:
    answer = service.send("POST", PATH, body=body)
    assert answer.status == status
    assert "xxx" not in answer.body.decode()


def test_a_form_of_another_site_is_refused(service: Plimsoll) -> None:
    request = urllib.request.Request(
        f"{service.url}{PATH}",
        data=b'{"user": "rea", "password": "x"}',
        headers={"content-type": "text/plain", "origin": "http://elsewhere"},
    )
    with pytest.raises(urllib.error.HTTPError, match="415") as refused:
        urllib.request.urlopen(request, timeout=60)
    refused.value.close()


def test_no_password_is_in_the_log(service: Plimsoll) -> None:
    sign_in(service, "rea", "a-password-to-look-for", project="engines")
    log = service.log()
    assert '"POST /console/sign-in"' in log
    assert "a-password-to-look-for" not in log
    assert "hunter2" not in log


def test_a_keystone_that_hangs_is_a_503_in_time(service: Plimsoll, keystone: Keystone) -> None:
    keystone.pause()
    try:
        answer = sign_in(service, "rea", project="engines")
    finally:
        keystone.resume()
    assert answer.status == 503
    assert "Keystone" in answer.detail
    assert sign_in(service, "rea", project="engines").status == 200
