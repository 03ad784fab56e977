# SPDX-License-Identifier: Apache-2.0

"""Requests carry token, microversion and media type; failures are exceptions with one line; retries are bounded."""

from __future__ import annotations

import pytest

from plimsoll.client import ClientFailure, RefusedRequest, Target, UnreachableService, V1Client, connect
from plimsoll.client.target import CONNECT_RETRIES, STATUS_RETRIES
from tests.support.servers.places import free_port
from tests.unit.client.scripted_server import Scripted, ScriptedServer, error_document


@pytest.fixture(autouse=True)
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plimsoll.client.target.FIRST_DELAY_SECONDS", 0.01)


def client_of(server: ScriptedServer, **target: str) -> V1Client:
    return connect(Target(url=server.url, **target), {})  # type: ignore[arg-type]


def test_an_explanation_has_text_and_verdict() -> None:
    answer = Scripted(200, "No candidates.\n", {"plimsoll-verdict": "not now"})
    with ScriptedServer(answer) as server:
        found = client_of(server, token="t").explain("resources=VCPU:4", "1.36")
    assert (found.text, found.verdict) == ("No candidates.\n", "not now")
    ((path, headers),) = server.requests
    assert path == "/plimsoll/v1/explain?resources=VCPU:4"
    assert headers["x-auth-token"] == "t"
    assert headers["accept"].startswith("text/plain, application/json;q=")
    assert headers["openstack-api-version"] == "placement 1.36"
    assert "plimsoll/" in headers["user-agent"]


def test_without_a_microversion_no_header_is_sent() -> None:
    with ScriptedServer(Scripted(200, {"verdict": "found"})) as server:
        assert client_of(server).explain_document("resources=VCPU:4") == {"verdict": "found"}
    assert "openstack-api-version" not in server.requests[0][1]


def test_a_request_id_is_quoted_in_the_query() -> None:
    with ScriptedServer(Scripted(200, {"unplaced": []})) as server:
        assert client_of(server).unplaced("req 1&x") == []
    assert server.requests[0][0] == "/plimsoll/v1/unplaced?request_id=req+1%26x"


def test_an_error_document_becomes_an_exception_with_its_facts() -> None:
    detail = "The server could not comply with the request.\n\n No such resource class: CPU.  "
    with (
        ScriptedServer(Scripted(400, error_document(400, "Bad Request", detail))) as server,
        pytest.raises(RefusedRequest) as raised,
    ):
        client_of(server).explain("resources=CPU:4")
    refusal = raised.value
    assert (refusal.status, refusal.title, refusal.code) == (400, "Bad Request", "placement.undefined_code")
    assert (refusal.detail, refusal.request_id) == ("No such resource class: CPU.", "req-1")
    assert str(refusal) == "400 Bad Request: No such resource class: CPU. (req-1)"


def test_a_long_text_with_control_characters_is_one_short_line() -> None:
    detail = "x\n\n a\x1b[31m\n b " + "c" * 5000
    with (
        ScriptedServer(Scripted(400, error_document(400, "Bad Request", detail))) as server,
        pytest.raises(RefusedRequest) as raised,
    ):
        client_of(server).explain("resources=CPU:4")
    assert str(raised.value).startswith("400 Bad Request: a\N{REPLACEMENT CHARACTER}[31m b ccc")
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize("document", [None, [], {"errors": []}, {"errors": [1]}, {"errors": "x"}, "text"])
def test_an_error_of_another_form_is_reported_by_its_status(document: object) -> None:
    with (
        ScriptedServer(Scripted(403, document)) as server,
        pytest.raises(RefusedRequest, match=r"^403 Forbidden$"),
    ):
        client_of(server).explain("resources=VCPU:4")


def test_another_service_is_recognised() -> None:
    with (
        ScriptedServer(Scripted(404, "<html>")) as server,
        pytest.raises(ClientFailure, match="is this service Plimsoll"),
    ):
        client_of(server).explain("resources=VCPU:4")


def test_a_response_that_is_no_document_is_a_failure() -> None:
    with (
        ScriptedServer(Scripted(200, "<html>")) as server,
        pytest.raises(ClientFailure, match="not a JSON document"),
    ):
        client_of(server).unplaced("req-1")


def test_a_busy_service_gets_the_request_again() -> None:
    busy = Scripted(503, error_document(503, "Service Unavailable", "busy"))
    with ScriptedServer(busy, Scripted(200, {"verdict": "found"})) as server:
        assert client_of(server).explain_document("resources=VCPU:4")["verdict"] == "found"
    assert len(server.requests) == 2


def test_a_service_that_stays_busy_gets_a_few_requests() -> None:
    busy = Scripted(503, error_document(503, "Service Unavailable", "busy"))
    with (
        ScriptedServer(busy) as server,
        pytest.raises(RefusedRequest, match=r"^503 Service Unavailable: busy"),
    ):
        client_of(server).explain("resources=VCPU:4")
    assert len(server.requests) == 1 + STATUS_RETRIES


def test_a_refused_request_is_sent_once() -> None:
    with ScriptedServer(Scripted(401, error_document(401, "Unauthorized", "no"))) as server:
        with pytest.raises(ClientFailure, match="401"):
            client_of(server).explain("resources=VCPU:4")
        assert len(server.requests) <= 2  # the library asks its plugin for another token once


def test_an_address_where_nothing_listens_is_named_with_the_reason() -> None:
    port = free_port()
    with pytest.raises(UnreachableService) as raised:
        connect(Target(url=f"http://127.0.0.1:{port}/"), {}).explain("resources=VCPU:4")
    address = f"http://127.0.0.1:{port}/plimsoll/v1/explain"
    assert str(raised.value) == f"{address} cannot be reached: Connection refused"
    assert CONNECT_RETRIES == 2
