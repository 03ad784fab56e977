# SPDX-License-Identifier: Apache-2.0

"""Clients as processes, and the goals of several services on one database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bench.client.driving import Unit
from bench.client.http import UnexpectedResponse
from bench.client.processes import drive_processes
from bench.client.units import reads
from bench.report.deployed import deployed_table, missed_goals, model_table
from bench.tests.conftest import Serve

RESPONSE = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]


def line(layout: str, work: str = "claims", **figures: Any) -> dict[str, Any]:
    return {
        "layout": layout,
        "work": work,
        "is_reference": False,
        "rate": 1000.0,
        "of_first": 1.0,
        "of_reference": None,
        "services_us": 500.0,
        "database_us": 200.0,
        "clients_us": 100.0,
        "p50_ms": 2.0,
        "p99_ms": 5.0,
        "fairness": 0.9,
        "head_held": 0.5,
        "per_commit": 2.5,
        "followed": 1.5,
    } | figures


def results(*lines: dict[str, Any], follow_us: float = 20.0) -> dict[str, Any]:
    return {"lines": [line("1x1"), *lines], "follow": {"us": follow_us, "per_read": 40.0}}


def test_reached_goals_are_not_listed() -> None:
    assert (
        missed_goals(results(line("3x1", of_first=0.71), line("3x2", of_first=0.5, of_reference=25.0))) == []
    )


@pytest.mark.parametrize(
    ("missed", "text"),
    [
        (line("3x1", of_first=0.69), "3x1 claims: 0.69 of 1x1"),
        (line("3x2", "mix", of_reference=14.0), "3x2 mix: 14.0 times the reference"),
        (line("1x2", p99_ms=8.5), "1x2 claims: p99 is 4.2 times p50"),
        (line("1x2", fairness=0.4), "1x2 claims: the slowest client gets 0.40"),
    ],
)
def test_a_missed_goal_is_listed(missed: dict[str, Any], text: str) -> None:
    (found,) = missed_goals(results(missed))
    assert found.startswith(text)


def test_following_has_a_goal() -> None:
    assert missed_goals(results(follow_us=51)) == ["following: 51 µs per claim, the goal is 50"]


@pytest.mark.parametrize(
    ("measured", "cells"),
    [
        (line("1x1"), ("1x1", "2,000", "2,000", "2,000", "2,000", "the processes that write")),
        (line("3x2"), ("3x2", "2,500", "2,857", "2,857", "2,857", "the lock")),
        (line("3x1-backup"), ("3x1-backup", "2,000", "2,000", "2,000", "2,000", "the processes that write")),
        (line("3x1", clients_us=9300.0), ("3x1", "200", "400", "800", "1,600", "processors")),
    ],
)
def test_the_model_has_the_lowest_limit(measured: dict[str, Any], cells: tuple[str, ...]) -> None:
    _, lines = model_table({"lines": [measured, line("1x1", "mix"), line("1x1", is_reference=True)]})
    assert lines == [cells]


def test_a_reference_has_no_ratio_and_no_metrics() -> None:
    reference = line("3x2", is_reference=True, head_held=None, per_commit=None, followed=None)
    header, lines = deployed_table(results(reference))
    cells = dict(zip(header, lines[-1], strict=True))
    assert cells["layout"] == "reference 3x2"
    assert (cells["of 1x1"], cells["of reference"], cells["head held"]) == ("", "", "")


def test_each_client_has_a_process_and_samples_are_taken_around_the_round(serve: Serve) -> None:
    samples = iter(("before", "after"))
    phase = drive_processes(
        [serve(RESPONSE)], reads(["/"]), 3, 0.2, lambda: next(samples), warmup_seconds=0.2
    )
    assert (phase.before, phase.after) == ("before", "after")
    assert len(phase.rounds) == 3
    assert all(one.nanoseconds for one in phase.rounds)


def test_an_error_of_a_client_ends_the_measurement(serve: Serve) -> None:
    def clients(_: int) -> Iterator[Unit]:
        raise UnexpectedResponse("a test")

    with pytest.raises(UnexpectedResponse, match="a test"):
        drive_processes([serve(RESPONSE)], clients, 2, 0.1, lambda: None, warmup_seconds=0.0)
