# SPDX-License-Identifier: Apache-2.0

"""While Keystone is down, hangs, or refuses the service's own login, requests get a 503 in the API's format."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cloud.keystone import Keystone
from tests.cloud.services import Both, Plimsoll, Response, both

PATH = "/resource_providers"
SHORT_TIMEOUT = {"http_request_max_retries": 0, "http_connect_timeout": 5}


@pytest.fixture(scope="module")
def services(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with both(tmp_path_factory.mktemp("impatient"), keystone.authtoken(**SHORT_TIMEOUT)) as running:
        yield running


def is_a_503(response: Response) -> bool:
    assert response.status == 503, response.body
    assert response.headers["content-type"] == "application/json"
    assert response.headers["retry-after"] == "5"
    (error,) = response.json["errors"]
    assert (error["status"], error["title"]) == (503, "Service Unavailable")
    assert "This token could not be validated: Keystone is unavailable." in error["detail"]
    assert error["request_id"] == response.headers["x-openstack-request-id"]
    return True


@pytest.mark.parametrize(("down", "reference"), [("stopped", 503), ("hanging", 500)])
def test_an_outage_is_a_503_and_ends_by_itself(
    services: Both, keystone: Keystone, down: str, reference: int
) -> None:
    known, unknown = keystone.token(), keystone.token()
    assert services.send("GET", PATH, known).status == 200
    if down == "stopped":
        keystone.stop()
    else:
        keystone.pause()
    try:
        assert is_a_503(services.ours.send("GET", PATH, unknown))
        assert services.theirs.send("GET", PATH, unknown).status == reference
        assert services.send("GET", PATH, known).status == 200, "it is remembered"
        assert services.send("GET", "/").status == 200
        assert services.ours.send("GET", "/healthz?ready").status == 200, "it is not we who are ill"
        assert services.send("GET", PATH).status == 401
    finally:
        if down == "stopped":
            keystone.start()
        else:
            keystone.resume()
    assert services.send("GET", PATH, unknown).status == 200


def test_plimsoll_starts_before_keystone_does(
    keystone: Keystone, tmp_path_factory: pytest.TempPathFactory
) -> None:
    token = keystone.token()
    keystone.stop()
    try:
        with Plimsoll(tmp_path_factory.mktemp("early"), keystone.authtoken(**SHORT_TIMEOUT)) as early:
            assert early.send("GET", "/").status == 200
            assert is_a_503(early.send("GET", PATH, token))
            assert is_a_503(early.send("POST", PATH, token, {"name": "never"}))
            keystone.start()
            assert early.send("GET", PATH, token).json == {"resource_providers": []}
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
def test_wrong_credentials_of_the_service_result_in_a_503(
    keystone: Keystone, tmp_path_factory: pytest.TempPathFactory, wrong: dict[str, str], reference: int
) -> None:
    keystone.user("rob", "engines", "reader")
    section = keystone.authtoken(**SHORT_TIMEOUT, **wrong)
    with both(tmp_path_factory.mktemp("wrong"), section) as services:
        token = keystone.token()
        assert is_a_503(services.ours.send("GET", PATH, token))
        assert services.theirs.send("GET", PATH, token).status == reference
        assert services.send("GET", "/").status == 200
        assert services.send("GET", PATH).status == 401


def test_delay_auth_decision_is_ignored(keystone: Keystone, tmp_path_factory: pytest.TempPathFactory) -> None:
    section = keystone.authtoken(**SHORT_TIMEOUT, delay_auth_decision=True)
    with both(tmp_path_factory.mktemp("delayed"), section) as services:
        for service in services:
            assert service.send("GET", PATH, keystone.token()).status == 200
            for token in ("garbage", None):
                response = service.send("GET", PATH, token)
                assert (response.status, "www-authenticate" in response.headers) == (401, True)
        token = keystone.token()
        keystone.stop()
        try:
            assert is_a_503(services.ours.send("GET", PATH, token))
            assert services.theirs.send("GET", PATH, token).status == 401
        finally:
            keystone.start()
