# SPDX-License-Identifier: Apache-2.0

"""Responses to single requests of attackers: statuses and bytes, and the memory, log and state afterwards."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from tests.attacks import error_texts, memory, searches, trailers, validation
from tests.attacks.attack import Stop
from tests.attacks.bystander import BystanderThread
from tests.attacks.every import ATTACKS
from tests.attacks.slow_clients import CHUNKED_HEAD, TINY
from tests.attacks.sockets import Response, request
from tests.attacks.target import Target
from tests.support.waiting import eventually

MOST_ERROR_BYTES = 4_000
SECONDS = 10.0


def response_to(target: Target, content: bytes, seconds: float = SECONDS) -> Response:
    with target.connect(seconds) as connection:
        connection.try_send(content)
        return connection.response()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(error_texts.VERSION, id="version"),
        pytest.param(error_texts.ACCEPT, id="accept"),
        pytest.param(error_texts.CONTENT_TYPE, id="content type"),
        pytest.param(error_texts.TARGET, id="path"),
        pytest.param(error_texts.QUERY, id="query"),
        pytest.param(error_texts.TRAITS, id="traits"),
        pytest.param(error_texts.NAME, id="name"),
        pytest.param(error_texts.PARENT, id="parent"),
    ],
)
def test_an_error_quotes_little_of_a_request(content: bytes, target: Target) -> None:
    response = response_to(target, content)
    assert response.status < 500
    if response.status >= 400:
        assert len(response.body) <= MOST_ERROR_BYTES


def test_a_role_in_a_trailer_does_not_count(target: Target) -> None:
    content = trailers.in_chunks("x-auth-token: mallory", trailers=b"x-roles: admin\r\n")
    assert response_to(target, content).status == 403


def test_a_token_in_a_trailer_does_not_count(target: Target) -> None:
    assert response_to(target, trailers.in_chunks(trailers=b"x-auth-token: admin\r\n")).status == 401


def test_an_address_in_a_trailer_does_not_count(target: Target) -> None:
    content = trailers.in_chunks("x-auth-token: mallory", trailers=b"forwarded: for=198.51.100.66\r\n")
    assert response_to(target, content).status == 403
    assert target.send("GET", "/traits?name=startswith:AFTER").status == 200
    assert eventually(lambda: "startswith:AFTER" in target.log())
    assert "198.51.100.66" not in target.log()


def test_trailers_without_end_are_refused(target: Target) -> None:
    most, stop, sent = trailers.MEGABYTES << 20, Stop(30), 0
    part = (b"x-trailer: " + b"a" * 1_000 + b"\r\n") * 60
    with target.connect(10) as connection:
        connection.try_send(trailers.in_chunks()[:-2])
        while sent < most and not stop.is_set() and not connection.has_response():
            sent += len(part) if connection.try_send(part) else most
        # A few megabytes fit into the buffers of the two sockets.
        assert sent < most / 2
        assert connection.response().status in (400, 413, 431)


@pytest.mark.parametrize(
    ("method", "path", "document"),
    [
        pytest.param("PUT", "aggregates", validation.mixed_aggregates(), id="aggregates of mixed types"),
        pytest.param("POST", "/allocations", validation.bad_consumers(), id="bad consumers"),
        pytest.param("POST", "/resource_providers", validation.long_name(), id="a long name"),
        pytest.param("POST", "/resource_providers", {"name": 1, "a" * 1_000_000: 1}, id="a long member"),
        pytest.param("PUT", "traits", {"traits": ["x" * 100_000]}, id="a long trait"),
        pytest.param("POST", "/resource_classes", {"name": "c" * 1_000_000}, id="a long class"),
    ],
)
def test_a_refused_document_gets_a_short_response(
    method: str, path: str, document: object, target: Target
) -> None:
    where = path if path.startswith("/") else f"/resource_providers/{target.host}/{path}"
    response = response_to(target, request(method, where, json.dumps(document).encode()))
    assert response.status == 400
    assert response.has_error_shape
    assert len(response.body) <= MOST_ERROR_BYTES


@pytest.mark.parametrize("content", [searches.TOO_MANY, searches.ENDLESS], ids=["40 groups", "44 groups"])
def test_a_search_without_end_is_ended(content: bytes, target: Target) -> None:
    response = response_to(target, content, 20)
    assert response.status in (200, 503)
    if response.status == 503:
        (error,) = response.json["errors"]
        assert error["code"]
        assert len(response.body) <= MOST_ERROR_BYTES


def test_searches_of_clients_that_have_gone_leave_room_for_others(target: Target) -> None:
    for _ in range(20):
        connection = target.connect(5)
        connection.send(searches.ENDLESS)
        connection.reset()
    assert (
        response_to(target, request("GET", "/allocation_candidates?resources=VCPU:1&limit=1"), 25).status
        == 200
    )


@pytest.mark.parametrize("content", [searches.LARGE, searches.LARGER], ids=["4 groups", "8 groups"])
def test_candidates_without_a_limit_have_one(content: bytes, target: Target) -> None:
    response = response_to(target, content, 30)
    assert response.status == 200
    assert 0 < len(response.json["allocation_requests"]) <= 1_000


def test_no_line_of_the_log_is_written_by_a_request(target: Target) -> None:
    response = response_to(target, memory.FORGED)
    assert response.status in (400, 401)
    if response.status == 400:
        assert response.has_error_shape
    forged = request("GET", "/", None, "x-user-id: a%0d%0aforged", "x-user-id: b\x85forged line")
    assert response_to(target, forged).status == 200
    assert target.send("GET", "/traits?name=startswith:LOGGED").status == 200
    assert eventually(lambda: "startswith:LOGGED" in target.log())
    lines = target.log().splitlines()
    assert [line for line in lines if line.startswith(("2026-01-01", "forged"))] == []
    assert "Traceback" not in target.log()


def test_a_long_project_is_refused_before_the_policy_decides(target: Target) -> None:
    assert response_to(target, memory.refused_project(1)).status == 400


def test_one_more_piece_of_a_body_costs_the_same_as_the_first(target: Target) -> None:
    """The second client gets 60 responses while 20 bodies of 100,000 pieces get one more, again and again."""
    with ExitStack() as stack:
        opened = [stack.enter_context(target.connect(10)) for _ in range(20)]
        for each in opened:
            each.try_send(CHUNKED_HEAD + TINY * 100_000)
        bystander = stack.enter_context(BystanderThread(target.port, target.host))
        bystander.wait_for(1, 30)
        goal, stop = bystander.responses + 60, Stop(10)
        while bystander.responses < goal and not stop.is_set():
            for each in opened:
                each.try_send(TINY)
            stop.wait(0.001)
        assert bystander.responses >= goal


def test_every_attack_has_a_point_and_a_name() -> None:
    points = {part for attack in ATTACKS.values() for part in attack.point.split(", ")}
    assert {str(number) for number in range(1, 15)} | {"new"} == points
