# SPDX-License-Identifier: Apache-2.0

"""Searches that exceed the time budget or the maximum of candidates: response and log lines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from plimsoll.permit import ENVIRON_KEY
from plimsoll.search.budget import BudgetExceeded
from tests.support.api import Api, api

DEVICES = 10
PUZZLE = "&".join(
    f"resources{number}=PGPU:{amount}" for number, amount in enumerate([*[4] * 10, *[3] * 16], start=1)
)
"""Requests 88 of 90 in parts that do not fit: a 4 and a 3 on the same device of 9 leave 2 unusable."""


class Permit:
    """A permit that counts pauses. The client disconnects after some of them."""

    waited = 0.0

    def __init__(self, stays_for: int) -> None:
        self.pauses = 0
        self._stays_for = stays_for

    def released(self) -> AbstractContextManager[None]:
        return nullcontext()

    def pause(self) -> None:
        self.pauses += 1

    def begin_computation(self) -> None:
        """No other computation is waiting."""

    def is_client_gone(self) -> bool:
        return self.pauses >= self._stays_for


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Api]:
    with api(  # searches that are recorded are logged when they are, see test_unplaced
        tmp_path / "db",
        plimsoll__search_budget=0.1,
        plimsoll__max_candidates_without_limit=50,
        plimsoll__unplaced_keep=0,
    ) as client:
        host = client.host("10000000-0000-0000-0000-000000000000", VCPU=8)
        for number in range(DEVICES):
            client.host(f"d0000000-0000-0000-0000-{number:012}", parent=host, PGPU=9)
        yield client


def test_a_search_that_finds_nothing_in_time_is_a_503_with_a_code_and_advice(
    client: Api, caplog: pytest.LogCaptureFixture
) -> None:
    response = client.get(f"/allocation_candidates?{PUZZLE}&group_policy=none&limit=1")
    assert response.status == 503
    assert response.code == "plimsoll.search_budget_exceeded"
    assert "after 0.1 seconds" in response.detail
    assert "fewer groups" in response.detail
    assert "search_budget (0.1 s). Query: resources1=PGPU:4&" in caplog.text
    assert "... (510 characters)" in caplog.text, "a long query is shortened"


def test_a_search_is_cancelled_when_its_client_disconnects(
    client: Api, caplog: pytest.LogCaptureFixture
) -> None:
    permit = Permit(stays_for=3)

    def application(environ: Any, start_response: Any) -> Any:
        return client.application({**environ, ENVIRON_KEY: permit}, start_response)

    with caplog.at_level(logging.INFO):
        Api(application, client.database).get(f"/allocation_candidates?{PUZZLE}&group_policy=none&limit=1")
    assert permit.pauses == 3
    assert "The client closed its connection; the search was ended." in caplog.text
    assert "Traceback" not in caplog.text


def test_an_incomplete_result_is_not_cached(
    client: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client.host("20000000-0000-0000-0000-000000000000", PGPU=88)
    for _ in range(2):
        response = client.get(f"/allocation_candidates?{PUZZLE}&group_policy=none&limit=2")
        assert response.status == 200
        assert len(response.json["allocation_requests"]) == 1
    assert caplog.text.count("the response has the 1 found so far") == 2


def test_a_request_without_a_limit_gets_as_many_candidates_as_the_operator_allows(client: Api) -> None:
    groups = "resources1=PGPU:1&resources2=PGPU:1&group_policy=isolate"
    assert len(client.get(f"/allocation_candidates?{groups}").json["allocation_requests"]) == 50
    limited = client.get(f"/allocation_candidates?{groups}&limit=90").json["allocation_requests"]
    assert len(limited) == DEVICES * (DEVICES - 1)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("resources=VCPU:9", "the only host is too small for VCPU (9 wanted, at most 8 in all)"),
        ("resources=IPV4_ADDRESS:1", "the only host has no inventory of IPV4_ADDRESS"),
        (
            "resources=VCPU:1&resources_A=PGPU:1&required_A=HW_CPU_X86_VMX",
            "the only host lacks HW_CPU_X86_VMX (group _A)",
        ),
        (
            "resources=VCPU:1&member_of=in:30000000-0000-0000-0000-000000000000",
            "the only host is outside the aggregates asked for",
        ),
        (
            "&".join(f"resources{n}=PGPU:9" for n in range(1, 12)) + "&group_policy=none",
            "the only host has no room for all groups together (PGPU:9 + 9 + 9 + 9 + 9 + ...)",
        ),
    ],
)
def test_a_search_without_candidates_logs_the_reason(
    client: Api, caplog: pytest.LogCaptureFixture, query: str, reason: str
) -> None:
    with caplog.at_level(logging.INFO):
        for _ in range(2):
            response = client.get(f"/allocation_candidates?{query}")
            assert response.json["allocation_requests"] == []
    lines = [
        record.getMessage() for record in caplog.records if "No allocation candidates" in record.getMessage()
    ]
    assert len(lines) == 2, "one line for each request"
    assert lines[0].startswith(f"No allocation candidates: {reason}")
    assert lines[0].endswith(f"Query: {query}")


def test_used_up_capacity_is_the_reason_in_the_log(client: Api, caplog: pytest.LogCaptureFixture) -> None:
    claim = {
        "allocations": {"10000000-0000-0000-0000-000000000000": {"resources": {"VCPU": 7}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": None,
        "consumer_type": "INSTANCE",
    }
    assert client.put("/allocations/c0000000-0000-0000-0000-000000000000", claim).status == 204
    with caplog.at_level(logging.INFO):
        client.get("/allocation_candidates?resources=VCPU:4")
    reason = "the only host has too little VCPU (4 wanted, at most 1 free)"
    assert f"No allocation candidates: {reason}. Query: resources=VCPU:4" in caplog.text


def test_the_response_does_not_depend_on_whether_the_log_finds_a_reason_in_time(
    client: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reason_of_none(*_: object) -> str:
        raise BudgetExceeded

    monkeypatch.setattr("plimsoll.service.candidates.reason_of_none", reason_of_none)
    with caplog.at_level(logging.INFO):
        response = client.get("/allocation_candidates?resources=VCPU:9")
    assert (response.status, response.json["allocation_requests"]) == (200, [])
    assert "No allocation candidates: the search ended before the reason was found. Query: " in caplog.text
