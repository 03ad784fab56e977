# SPDX-License-Identifier: Apache-2.0

"""When Keystone is down, hangs, or does not let us ask: a 503 in the API's shape, until it is back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cloud.keystone import Keystone
from tests.cloud.services import Answer, Both, Plimsoll, both

PATH = "/resource_providers"
IMPATIENT = {"http_request_max_retries": 0, "http_connect_timeout": 5}


@pytest.fixture(scope="module")
def services(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with both(tmp_path_factory.mktemp("impatient"), keystone.authtoken(**IMPATIENT)) as running:
        yield running


def is_a_503(answer: Answer) -> bool:
    assert answer.status == 503, answer.body
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["retry-after"] == "5"
    (error,) = answer.json["errors"]
    assert (error["status"], error["title"]) == (503, "Service Unavailable")
    assert "Keystone cannot be asked about this token just now." in error["detail"]
    assert error["request_id"] == answer.headers["x-openstack-request-id"]
    return True


@pytest.mark.parametrize(("down", "reference"), [("stopped", 503), ("hanging", 500)])
def test_an_outage_is_a_503_and_ends_by_itself(
    services: Both, keystone: Keystone, down: str, reference: int
) -> None:
    known, unknown = keystone.token(), keystone.token()
    assert services.ask("GET", PATH, known).status == 200
    if down == "stopped":
        keystone.stop()
    else:
        keystone.pause()
    try:
        assert is_a_503(services.ours.ask("GET", PATH, unknown))
        assert services.theirs.ask("GET", PATH, unknown).status == reference
        assert services.ask("GET", PATH, known).status == 200, "it is remembered"
        assert services.ask("GET", "/").status == 200
        assert services.ours.ask("GET", "/healthz?ready").status == 200, "it is not we who are ill"
        assert services.ask("GET", PATH).status == 401
    finally:
        if down == "stopped":
            keystone.start()
        else:
            keystone.resume()
    assert services.ask("GET", PATH, unknown).status == 200


def test_plimsoll_starts_before_keystone_does(
    keystone: Keystone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = keystone.token()
    keystone.stop()
    try:
        with Plimsoll(tmp_path_factory.mktemp("early"), keystone.authtoken(**IMPATIENT)) as early:
            assert early.ask("GET", "/").status == 200
            assert is_a_503(early.ask("GET", PATH, token))
            assert is_a_503(early.ask("POST", PATH, token, {"name": "never"}))
            keystone.start()
            assert early.ask("GET", PATH, token).json == {"resource_providers": []}
    finally:
        if not keystone.is_running:
            keystone.start()


@pytest.mark.parametrize(
    ("wrong", "reference"),
    [
        ({"password": "wrong"}, 503),
        ({"username": "rob", "project_name": "engines"}, 503),
        ({"region_name": "Nowhere"}, 500),
    ],
    ids=["password", "without rights", "no endpoint"],
)
def test_settings_with_which_keystone_lets_nobody_ask_are_a_503(
    keystone: Keystone, tmp_path_factory: pytest.TempPathFactory, wrong: dict[str, str], reference: int
) -> None:
    keystone.user("rob", "engines", "reader")
    section = keystone.authtoken(**IMPATIENT, **wrong)
    with both(tmp_path_factory.mktemp("wrong"), section) as services:
        token = keystone.token()
        assert is_a_503(services.ours.ask("GET", PATH, token))
        assert services.theirs.ask("GET", PATH, token).status == reference
        assert services.ask("GET", "/").status == 200
        assert services.ask("GET", PATH).status == 401


def test_no_decision_is_delayed(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> None:
    section = keystone.authtoken(**IMPATIENT, delay_auth_decision=True)
    with both(tmp_path_factory.mktemp("delayed"), section) as services:
        for service in services:
            assert service.ask("GET", PATH, keystone.token()).status == 200
            for token in ("garbage", None):
                answer = service.ask("GET", PATH, token)
                assert (answer.status, "www-authenticate" in answer.headers) == (401, True)
        token = keystone.token()
        keystone.stop()
        try:
            assert is_a_503(services.ours.ask("GET", PATH, token))
            assert services.theirs.ask("GET", PATH, token).status == 401
        finally:
            keystone.start()
