# SPDX-License-Identifier: Apache-2.0

"""Probes: alive is said at once, ready is found out, and nobody waits for long."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.api.health import NO_ANSWER, Readiness
from plimsoll.service import health
from plimsoll.service.health import Health
from plimsoll.storage.errors import Unreachable
from tests.support.api import Api, api

GOOD = Health(health.OK, health.OK)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api(tmp_path_factory.mktemp("health") / "placement.sqlite") as served:
        yield served


def test_alive_needs_neither_a_token_nor_a_version_nor_the_database(
    served: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.database, "head", no_database)
    monkeypatch.setattr(served.database, "ask_head", no_database)
    answer = served.call("GET", "/healthz", version="such as no service speaks", headers={"X-Auth-Token": ""})
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert answer.headers["cache-control"] == "no-store"


def test_ready_looks_at_the_database_and_the_snapshot(served: Api) -> None:
    for query in ("ready", "ready=1", "a=b&ready"):
        answer = served.get(f"/healthz?{query}", version=None)
        assert answer.status == 200
        assert answer.json == {"status": "ok", "checks": {"database": "ok", "snapshot": "ok"}}


def no_database() -> None:
    raise Unreachable("of secret.example with the password hunter2")


def test_a_database_that_cannot_be_asked_is_a_503_without_secrets(
    served: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(served.database._dialect, "ask_head", no_database)
    answer = served.get("/healthz?ready", version=None)
    assert answer.status == 503
    checks = {"database": health.UNREACHABLE, "snapshot": health.NOT_CHECKED}
    assert answer.json == {"status": "not ready", "checks": checks}
    assert "hunter2" in caplog.text


def test_a_snapshot_that_cannot_follow_is_a_503(served: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("the change log makes no sense")

    monkeypatch.setattr("plimsoll.ledger.ledger.Ledger.snapshot", lambda _: broken())
    answer = served.get("/healthz?ready", version=None)
    assert answer.status == 503
    assert answer.json["checks"] == {"database": "ok", "snapshot": health.BEHIND}


@pytest.mark.parametrize("path", ["/healthz", "/healthz?ready"])
def test_head_has_the_length_and_no_body(served: Api, path: str) -> None:
    got, head = served.call("GET", path), served.call("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(got.body))


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS"])
def test_nothing_else_can_be_done_with_it(served: Api, method: str) -> None:
    answer = served.call(method, "/healthz")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert "status" in json.loads(answer.body)


def test_probes_leave_no_line_in_the_log_of_requests(served: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", "placement.requestlog"):
        served.get("/healthz")
        served.get("/")
    assert [record.getMessage() for record in caplog.records if "/healthz" in record.getMessage()] == []
    assert caplog.records


def test_it_is_under_the_prefix_with_the_rest(tmp_path: Path) -> None:
    with api(tmp_path / "placement.sqlite", plimsoll__prefix="/placement") as served:
        assert served.get("/placement/healthz?ready", version=None).status == 200
        assert served.get("/healthz", version=None).status == 404


def test_a_look_that_hangs_is_one_thread_however_many_ask() -> None:
    begun, go_on = [], threading.Event()

    def look() -> Health:
        begun.append(threading.current_thread())
        go_on.wait(60)
        return GOOD

    readiness = Readiness(look)
    assert [readiness.seen(0.01) for _ in range(3)] == [NO_ANSWER] * 3
    assert len(begun) == 1
    go_on.set()
    assert readiness.seen(60) == GOOD
    begun[0].join(60)
    assert readiness.seen(60) == GOOD
    assert len(begun) == 2
