# SPDX-License-Identifier: Apache-2.0

"""The comparison reports every difference except known faults of the reference."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.differential.requests import read
from tests.differential.servers import Response
from tests.takeover.cloud import at
from tests.takeover.comparison import NO_GENERATION, REFERENCE_FAILS, TimedResponse, compare_responses

REQUEST = read("question", "/resource_providers/one", at(39))
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=100)


def timed(
    body: Any, status: int = 200, modified: datetime = LONG_AGO, received: datetime = NOON
) -> TimedResponse:
    headers = {"content-type": "application/json", "last-modified": format_datetime(modified, usegmt=True)}
    return TimedResponse(Response(status, headers, json.dumps(body).encode()), received)


def compared(theirs: TimedResponse, own: TimedResponse) -> tuple[int, list[str]]:
    """Return the number of differences, and the known faults."""
    comparison = compare_responses([REQUEST], [theirs], [own])
    return len(comparison.differences), [
        fault for fault, requests in comparison.known_faults.items() if requests
    ]


ONE = {"name": "one", "generation": 3}


def test_equal_responses_have_no_differences() -> None:
    assert compared(timed(ONE), timed(ONE)) == (0, [])


def test_another_value_or_status_is_a_difference() -> None:
    assert compared(timed(ONE), timed(ONE | {"name": "other"})) == (1, [])
    assert compared(timed(ONE), timed(ONE, status=404))[0] > 0


def test_another_second_of_last_modified_is_a_difference() -> None:
    assert compared(timed(ONE), timed(ONE, modified=LONG_AGO + timedelta(seconds=1))) == (1, [])


def test_the_current_time_is_equal_whenever_it_was_received() -> None:
    later = NOON + timedelta(hours=1)
    assert compared(timed(ONE, modified=NOON), timed(ONE, modified=later, received=later)) == (0, [])
    assert compared(timed(ONE, modified=NOON), timed(ONE, received=later)) == (1, [])


def test_a_row_that_was_just_written_is_equal_later() -> None:
    later = NOON + timedelta(hours=1)
    assert compared(timed(ONE, modified=NOON), timed(ONE, modified=NOON, received=later)) == (0, [])


def test_a_500_is_a_known_fault_of_the_reference_only() -> None:
    assert compared(timed({}, status=500), timed(ONE)) == (0, [REFERENCE_FAILS])
    assert compared(timed(ONE), timed({}, status=500))[0] > 0
    assert compared(timed({}, status=500), timed({}, status=503))[0] > 0


def test_a_missing_generation_is_a_known_fault_if_nothing_else_differs() -> None:
    assert compared(timed(ONE | {"generation": None}), timed(ONE | {"generation": 0})) == (0, [NO_GENERATION])
    assert compared(timed(ONE | {"generation": None}), timed(ONE | {"generation": 1}))[0] > 0
    assert compared(timed(ONE | {"generation": None}), timed({"name": "other", "generation": 0}))[0] > 0
