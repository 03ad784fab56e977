# SPDX-License-Identifier: Apache-2.0

"""The judge sees what differs, and passes over nothing but what is known."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.differential.requests import read
from tests.differential.servers import Answer
from tests.takeover.cloud import at
from tests.takeover.judge import FAILS, NO_GENERATION, Said, judge

QUESTION = read("question", "/resource_providers/one", at(39))
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = NOON - timedelta(days=100)


def said(body: Any, status: int = 200, modified: datetime = LONG_AGO, asked: datetime = NOON) -> Said:
    headers = {"content-type": "application/json", "last-modified": format_datetime(modified, usegmt=True)}
    return Said(Answer(status, headers, json.dumps(body).encode()), asked)


def judged(there: Said, here: Said) -> tuple[int, list[str]]:
    """How many differences, and which faults."""
    verdict = judge([QUESTION], [there], [here])
    return len(verdict.differences), [fault for fault, questions in verdict.faults.items() if questions]


ONE = {"name": "one", "generation": 3}


def test_equal_answers_are_equal() -> None:
    assert judged(said(ONE), said(ONE)) == (0, [])


def test_another_value_or_status_is_a_difference() -> None:
    assert judged(said(ONE), said(ONE | {"name": "other"})) == (1, [])
    assert judged(said(ONE), said(ONE, status=404))[0] > 0


def test_another_second_of_the_last_change_is_a_difference() -> None:
    assert judged(said(ONE), said(ONE, modified=LONG_AGO + timedelta(seconds=1))) == (1, [])


def test_just_now_is_the_same_whenever_it_was_asked() -> None:
    later = NOON + timedelta(hours=1)
    assert judged(said(ONE, modified=NOON), said(ONE, modified=later, asked=later)) == (0, [])
    assert judged(said(ONE, modified=NOON), said(ONE, asked=later)) == (1, [])


def test_a_row_that_was_just_written_is_the_same_later() -> None:
    later = NOON + timedelta(hours=1)
    assert judged(said(ONE, modified=NOON), said(ONE, modified=NOON, asked=later)) == (0, [])


def test_a_500_is_known_of_the_reference_alone() -> None:
    assert judged(said({}, status=500), said(ONE)) == (0, [FAILS])
    assert judged(said(ONE), said({}, status=500))[0] > 0
    assert judged(said({}, status=500), said({}, status=503))[0] > 0


def test_a_missing_generation_is_known_if_nothing_else_differs() -> None:
    assert judged(said(ONE | {"generation": None}), said(ONE | {"generation": 0})) == (0, [NO_GENERATION])
    assert judged(said(ONE | {"generation": None}), said(ONE | {"generation": 1}))[0] > 0
    assert judged(said(ONE | {"generation": None}), said({"name": "other", "generation": 0}))[0] > 0
