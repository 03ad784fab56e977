# SPDX-License-Identifier: Apache-2.0

"""`plimsoll explain` and `plimsoll why`: requests, exit statuses, and failures in one line.

A server with prescribed answers stands in for the service; tests/docs and tests/processes run both with a real one.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli import main
from tests.support.servers.places import free_port
from tests.unit.client.scripted_server import Scripted, ScriptedServer, error_document

TEXT = "No candidates: of 14 hosts, 9 have too little MEMORY_MB.\n\n  1  MEMORY_MB:8192\n"
WHY = {"revision": "5f3a9c1e:63", "reason": "x", "verdict": "not now", "summary": "No candidates: then."}
SEARCH: dict[str, Any] = {
    "query": "resources=VCPU:4",
    "microversion": "1.36",
    "last_at": "2026-11-18T13:00:00Z",
    **WHY,
    "summary": "No candidates: the last time.",
    "requests": [{"at": "2026-11-18T12:00:00Z", **WHY}],
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OS_CLOUD", "OS_AUTH_URL", "OS_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("plimsoll.client.target.FIRST_DELAY_SECONDS", 0.01)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def text(verdict: str) -> Scripted:
    return Scripted(200, TEXT, {"plimsoll-verdict": verdict})


@pytest.mark.parametrize(("verdict", "status"), [("found", 0), ("not now", 3), ("never", 4)])
def test_the_exit_status_is_that_of_the_verdict(verdict: str, status: int) -> None:
    with ScriptedServer(text(verdict)) as server:
        done = run("explain", "--url", server.url, "resources=VCPU:4")
    assert (done.exit_code, done.stdout) == (status, TEXT)


@pytest.mark.parametrize(("verdict", "status"), [("found", 0), ("not now", 3), ("never", 4)])
def test_the_document_can_be_printed(verdict: str, status: int) -> None:
    with ScriptedServer(Scripted(200, {"verdict": verdict, "candidates": 0})) as server:
        done = run("explain", "--url", server.url, "--json", "--resource", "VCPU=4")
    assert (done.exit_code, json.loads(done.stdout)["verdict"]) == (status, verdict)


def test_options_become_parameters() -> None:
    with ScriptedServer(text("found")) as server:
        run("explain", "--url", server.url, "--resource", "VCPU=4", "--provider", "node 1", "--no-relax")
    assert server.requests[0][0] == (
        "/plimsoll/v1/explain?resources=VCPU:4&provider=node+1&relax=false&make_room=false"
    )


def test_a_url_in_the_query_names_the_service_if_nothing_else_does() -> None:
    with ScriptedServer(text("found")) as named, ScriptedServer(text("found")) as other:
        url = f"{named.url}/allocation_candidates?resources=VCPU:4"
        assert run("explain", url).exit_code == 0
        assert run("explain", "--url", other.url, url).exit_code == 0
    assert (len(named.requests), len(other.requests)) == (1, 1)


@pytest.mark.parametrize("words", [(), ("resources=VCPU:4", "--resource", "VCPU=4"), ("--group", "1")])
def test_either_a_query_or_options_are_needed(words: tuple[str, ...]) -> None:
    done = run("explain", "--url", "http://127.0.0.1:9", *words)
    assert done.exit_code == 2
    assert "Give a QUERY" in done.stderr


@pytest.mark.parametrize(
    ("answer", "status", "line"),
    [
        (
            Scripted(400, error_document(400, "Bad Request", "x\n\n No such trait.")),
            2,
            "No such trait. (req-1)",
        ),
        (Scripted(401, error_document(401, "Unauthorized", "Bad token")), 1, "401"),
        (Scripted(403, error_document(403, "Forbidden", "Policy")), 1, "403 Forbidden: Policy (req-1)"),
        (Scripted(500, "<html>"), 1, "500"),
    ],
)
def test_a_failure_is_one_line(answer: Scripted, status: int, line: str) -> None:
    with ScriptedServer(answer) as server:
        done = run("explain", "--url", server.url, "resources=VCPU:4")
    assert (done.exit_code, done.stdout) == (status, "")
    assert done.stderr.count("\n") == 1
    assert line in done.stderr


def test_an_unreachable_service_is_one_line() -> None:
    done = run("why", "--url", f"http://127.0.0.1:{free_port()}", "req-1")
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "Connection refused" in done.stderr


def test_without_a_service_the_choices_are_named() -> None:
    done = run("why", "req-1")
    assert done.exit_code == 2
    assert "--os-cloud" in done.stderr


def test_why_shows_the_reason_then_and_now() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": [SEARCH]}), text("not now")) as server:
        done = run("why", "--url", server.url, "req-1")
    assert done.exit_code == 3
    assert [path for path, _ in server.requests] == [
        "/plimsoll/v1/unplaced?request_id=req-1",
        "/plimsoll/v1/explain?resources=VCPU:4",
    ]
    assert server.requests[1][1]["openstack-api-version"] == "placement 1.36"
    assert done.stdout.index("No candidates: then.") < done.stdout.index(TEXT)


def test_why_shows_the_search_of_this_request_not_the_last_equal_one() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": [SEARCH]}), text("not now")) as server:
        shown = run("why", "--url", server.url, "req-1").stdout
    assert "2026-11-18T12:00:00Z" in shown
    assert "the last time" not in shown


def test_why_of_a_search_that_is_refused_now_has_the_reason_of_then() -> None:
    refused = Scripted(400, error_document(400, "Bad Request", "x\n\n No such trait."))
    with ScriptedServer(Scripted(200, {"unplaced": [SEARCH]}), refused) as server:
        done = run("why", "--url", server.url, "req-1")
    assert (done.exit_code, done.stderr) == (3, "")
    assert "No candidates: then." in done.stdout
    assert "No such trait." in done.stdout


def test_why_exits_with_0_if_the_search_has_candidates_now() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": [SEARCH]}), text("found")) as server:
        assert run("why", "--url", server.url, "req-1").exit_code == 0


def test_why_shows_some_of_many_searches() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": [SEARCH] * 8}), text("never")) as server:
        done = run("why", "--url", server.url, "req-1")
    assert done.exit_code == 4
    assert done.stdout.count("then.") == 5
    assert "and 3 more" in done.stdout


def test_why_without_a_search_has_the_possible_causes() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": []})) as server:
        done = run("why", "--url", server.url, "req-1")
    assert done.exit_code == 1
    assert "req-1" in done.stderr
    assert done.stderr.count("\n") == 1
