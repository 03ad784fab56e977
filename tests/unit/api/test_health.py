# SPDX-License-Identifier: Apache-2.0

"""Health probes: `/healthz` responds at once, `?ready` checks the database, and both within a bounded time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.service import health
from plimsoll.storage.errors import Unreachable
from tests.support.api import Api, api


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api(tmp_path_factory.mktemp("health") / "placement.sqlite") as served:
        yield served


def test_alive_needs_neither_a_token_nor_a_version_nor_the_database(
    served: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.database, "head", no_database)
    monkeypatch.setattr(served.database, "start_head_query", no_database)
    response = served.call(
        "GET", "/healthz", version="such as no service speaks", headers={"X-Auth-Token": ""}
    )
    assert (response.status, response.json) == (200, {"status": "ok"})
    assert response.headers["cache-control"] == "no-store"


def test_ready_checks_the_database_and_the_snapshot(served: Api) -> None:
    for query in ("ready", "ready=1", "a=b&ready"):
        response = served.get(f"/healthz?{query}", version=None)
        assert response.status == 200
        assert response.json == {"status": "ok", "checks": {"database": "ok", "snapshot": "ok"}}


def no_database() -> None:
    raise Unreachable("of secret.example with the password hunter2")


def test_a_database_that_does_not_respond_is_a_503_without_secrets(
    served: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(served.database._dialect, "start_head_query", no_database)
    response = served.get("/healthz?ready", version=None)
    assert response.status == 503
    checks = {"database": health.UNREACHABLE, "snapshot": health.NOT_CHECKED}
    assert response.json == {"status": "not ready", "checks": checks}
    assert "hunter2" in caplog.text


def test_a_snapshot_that_cannot_be_updated_is_a_503(served: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("the change log makes no sense")

    monkeypatch.setattr("plimsoll.ledger.ledger.Ledger.snapshot", lambda _: broken())
    response = served.get("/healthz?ready", version=None)
    assert response.status == 503
    assert response.json["checks"] == {"database": "ok", "snapshot": health.BEHIND}


@pytest.mark.parametrize("path", ["/healthz", "/healthz?ready"])
def test_head_has_the_length_and_no_body(served: Api, path: str) -> None:
    got, head = served.call("GET", path), served.call("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS"])
def test_other_methods_are_a_405(served: Api, method: str) -> None:
    response = served.call(method, "/healthz")
    assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")
    assert "status" in json.loads(response.body)


def test_probes_are_not_in_the_request_log(served: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "placement.requestlog"):
        served.get("/healthz")
        served.get("/")
    assert [record.getMessage() for record in caplog.records if "/healthz" in record.getMessage()] == []
    assert caplog.records


def test_healthz_is_under_the_prefix(tmp_path: Path) -> None:
    with api(tmp_path / "placement.sqlite", plimsoll__prefix="/placement") as served:
        assert served.get("/placement/healthz?ready", version=None).status == 200
        assert served.get("/healthz", version=None).status == 404
