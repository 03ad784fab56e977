# SPDX-License-Identifier: Apache-2.0

"""The log lines of refusals. The response has the same facts."""

import logging
from pathlib import Path

import pytest

from tests.support.api import Api, api

pytestmark = pytest.mark.one_engine(
    "the domain decides the refusals, and their lines are made from its values"
)

HOST = "10000000-0000-0000-0000-000000000001"
CONSUMER = "20000000-0000-0000-0000-00000000000"


def claim(client: Api, number: int, amount: int, generation: int | None = None) -> str:
    body = {
        "allocations": {HOST: {"resources": {"VCPU": amount}}},
        "project_id": "p",
        "user_id": "u",
        "consumer_generation": generation,
        "consumer_type": "INSTANCE",
    }
    response = client.put(f"/allocations/{CONSUMER}{number}", body)
    return "" if response.status == 204 else response.detail


@pytest.fixture(autouse=True)
def _host(client: Api) -> None:
    client.host(HOST, VCPU=4)
    assert claim(client, 1, 1) == ""


def lines(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno == level and record.name == "plimsoll.api.placement.refusal_log"
    ]


def test_a_claim_over_capacity_is_one_warning_with_the_figures(
    client: Api, caplog: pytest.LogCaptureFixture
) -> None:
    name = client.get(f"/resource_providers/{HOST}").json["name"]
    detail = claim(client, 2, 4)
    facts = "Asked: 4, used: 1, capacity: 4"
    assert detail.rstrip().endswith(f"The requested amount would exceed the capacity. {facts}.")
    assert lines(caplog, logging.WARNING) == [
        f"Over capacity for VCPU on resource provider {name} ({HOST}). {facts}"
    ]


def test_any_other_refused_write_is_one_line_with_its_detail(
    client: Api, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    claim(client, 1, 2, generation=7)
    (line,) = lines(caplog, logging.INFO)
    assert line.startswith(
        f"Refused: PUT /allocations/{CONSUMER}1: 409 placement.concurrent_update: consumer gen"
    )
    assert "expected 1 but got 7" in line
    caplog.clear()
    client.get("/resource_providers/10000000-0000-0000-0000-000000000009")
    assert lines(caplog, logging.INFO) == []


def test_the_detail_of_each_refusal_is_logged_at_debug(client: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client.get("/resource_providers?nope=1")
    (line,) = lines(caplog, logging.DEBUG)
    assert line.startswith(
        "Error response: GET /resource_providers: 400 placement.undefined_code: Invalid query string"
    )
    assert "('nope' was unexpected)" in line


@pytest.mark.parametrize(("seconds", "warnings"), [(1e-9, 1), (60.0, 0), (0.0, 0)])
def test_a_request_above_the_threshold_is_a_warning(
    seconds: float, warnings: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "placement.requestlog")
    query = "/allocation_candidates?resources=VCPU:1"
    options = {"plimsoll__slow_request_seconds": seconds, "plimsoll__log_request_duration": True}
    with api(tmp_path / "placement.sqlite", **options) as served:
        served.get(query)
    lines = [record.getMessage() for record in caplog.records if record.name == "placement.requestlog"]
    assert [line.startswith(f'Slow request: "GET {query}" took ') for line in lines] == [True] * warnings + [
        False
    ]
    assert " duration: 0." in lines[-1]
