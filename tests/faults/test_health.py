# SPDX-License-Identifier: Apache-2.0

"""`/healthz` of a service whose database server is stopped or does not answer: 503 for `?ready`, and never a 500."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.faults.ground import Ground
from tests.faults.services import SETTLE_SECONDS
from tests.support.api import Api, api


@pytest.fixture
def served(ground: Ground, url: str) -> Iterator[Api]:
    with api(url) as served:
        yield served
        wait_until_ready(served)


def wait_until_ready(served: Api) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while served.get("/healthz?ready", version=None).status != 200:
        assert time.monotonic() < deadline, "it does not get ready again"
        time.sleep(0.05)


def test_a_server_that_is_stopped(ground: Ground, served: Api) -> None:
    ground.server.stop()
    try:
        answer = served.get("/healthz?ready", version=None)
        assert (answer.status, answer.json["status"]) == (503, "not ready")
        assert answer.json["checks"]["database"] != "ok"
        assert served.get("/healthz", version=None).status == 200
    finally:
        ground.server.start()


def test_a_server_that_does_not_answer(ground: Ground, served: Api) -> None:
    ground.server.pause()
    try:
        answer = served.get("/healthz?ready", version=None)
        assert answer.status == 503
        assert answer.json["checks"] == {"database": "no answer in time", "snapshot": "not checked"}
        assert served.get("/healthz", version=None).status == 200
    finally:
        ground.server.resume()
