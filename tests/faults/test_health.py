# SPDX-License-Identifier: Apache-2.0

"""`/healthz` of a service whose database server is stopped or hangs: 503 for `?ready`, and never a 500."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.faults.private_server import PrivateServer
from tests.faults.services import RECOVERY_SECONDS
from tests.support.api import Api, api


@pytest.fixture
def served(private_server: PrivateServer, url: str) -> Iterator[Api]:
    with api(url) as served:
        yield served
        wait_until_ready(served)


def wait_until_ready(served: Api) -> None:
    deadline = time.monotonic() + RECOVERY_SECONDS
    while served.get("/healthz?ready", version=None).status != 200:
        assert time.monotonic() < deadline, "the service does not become ready again"
        time.sleep(0.05)


def test_a_stopped_server_makes_the_service_not_ready(private_server: PrivateServer, served: Api) -> None:
    private_server.server.stop()
    try:
        response = served.get("/healthz?ready", version=None)
        assert (response.status, response.json["status"]) == (503, "not ready")
        assert response.json["checks"]["database"] != "ok"
        assert served.get("/healthz", version=None).status == 200
    finally:
        private_server.server.start()


def test_a_hanging_server_makes_the_service_not_ready(private_server: PrivateServer, served: Api) -> None:
    private_server.server.pause()
    try:
        response = served.get("/healthz?ready", version=None)
        assert response.status == 503
        assert response.json["checks"] == {"database": "timed out", "snapshot": "not checked"}
        assert served.get("/healthz", version=None).status == 200
    finally:
        private_server.server.resume()
