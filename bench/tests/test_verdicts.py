# SPDX-License-Identifier: Apache-2.0

"""A ratio below its goal is a miss, on every database and in the quick form, and the table marks it."""

from __future__ import annotations

from typing import Any

import pytest

from bench.measuring import growth
from bench.measuring.rounds import quantile, thin_out
from bench.measuring.verdicts import judge_workloads
from bench.measuring.workloads import WORKLOADS
from bench.report import table


def server(median: float, rate: float = 100.0) -> dict[str, Any]:
    return {
        "units": 10,
        "refused": 0,
        "median_ms": median,
        "p99_ms": 2 * median,
        "rate": rate,
        "answer_bytes": 1,
    }


def result_of(key: str, **servers: dict[str, Any]) -> dict[str, Any]:
    work = next(work for work in WORKLOADS if work.key == key)
    named = {name.replace("_", "-"): each for name, each in servers.items()}
    return {"key": key, "title": work.title, "kind": work.kind, "servers": named}


def test_a_lower_time_and_a_higher_rate_are_better() -> None:
    by_time = result_of("flat-all", reference_default=server(300.0), plimsoll=server(1.5))
    by_rate = result_of("claims-8", reference_default=server(1.0, rate=50), plimsoll=server(9.0, rate=2000))
    values = [verdict.value for verdict in judge_workloads([by_time, by_rate], "mariadb", quick=False)]
    assert values == [200.0, 40.0]


@pytest.mark.parametrize(
    ("ours", "quick", "holds"),
    [(1.5, False, True), (1.51, False, False), (6.0, True, True), (6.1, True, False)],
)
def test_a_ratio_below_its_goal_is_a_miss(ours: float, quick: bool, holds: bool) -> None:
    measured = [result_of("flat-all", reference_default=server(300.0), plimsoll=server(ours))]
    (verdict,) = judge_workloads(measured, "mariadb", quick)
    assert verdict.holds is holds


def test_the_goal_of_selections_is_lower_on_sqlite() -> None:
    servers = {"reference_default": server(9.0, rate=10), "plimsoll": server(1.0, rate=1100)}
    measured = [result_of("select-8", **servers)]
    assert [verdict.holds for verdict in judge_workloads(measured, "mariadb", quick=False)] == [False]
    assert [verdict.holds for verdict in judge_workloads(measured, "sqlite", quick=False)] == [True]


def test_candidates_are_also_compared_with_the_ready_made_response() -> None:
    servers = {"reference_default": server(600.0), "plimsoll": server(1.8), "ready_made": server(0.5)}
    ratio, close = judge_workloads([result_of("flat-all", **servers)], "mariadb", quick=False)
    assert ratio.holds
    assert (close.compared_with, close.holds) == ("ready-made", False)


def test_a_workload_without_completed_units_misses_its_goal() -> None:
    measured = [result_of("claims-8", reference_default=server(9.0), plimsoll={"units": 0, "refused": 9})]
    assert [verdict.holds for verdict in judge_workloads(measured, "mariadb", quick=False)] == [False]


def test_a_failed_service_is_marked_as_failed_and_misses_its_goal() -> None:
    servers = {"reference_default": server(300.0), "plimsoll": {"units": 0, "refused": 0, "error": "500"}}
    measured = [result_of("flat-all", **servers, ready_made=server(0.5))]
    judged = [verdict.to_json() for verdict in judge_workloads(measured, "mariadb", quick=False)]
    assert [each["holds"] for each in judged] == [False, False]
    results = {"works": measured, "verdicts": judged}
    assert "fails" in table.works_table(results)[1][0]
    assert "fails" in table.limits_table(results)[1][0]


def test_a_miss_is_marked_in_the_table() -> None:
    measured = [
        result_of("flat-all", reference_default=server(300.0), plimsoll=server(1.0)),
        result_of("nested-all", reference_default=server(300.0), plimsoll=server(100.0)),
    ]
    judged = [verdict.to_json() for verdict in judge_workloads(measured, "mariadb", quick=False)]
    header, lines = table.works_table({"works": measured, "verdicts": judged})
    assert [line[-1] for line in lines] == ["", table.MISSES]
    assert table.MISSES in table.as_text(header, lines).splitlines()[-1]


@pytest.mark.parametrize(("claim", "memory", "missed"), [(1.1, 590.0, 0), (1.3, 590.0, 1), (1.1, 610.0, 1)])
def test_growth_is_judged_by_claims_and_memory(claim: float, memory: float, missed: int) -> None:
    sizes = [
        {"providers": 1_000, "search": server(1.0), "claim": server(1.0), "memory_mb": 100.0},
        {"providers": 100_000, "search": server(9.0), "claim": server(claim), "memory_mb": memory},
    ]
    verdicts = growth.judge_growth({"sizes": sizes, "held": None})
    assert sum(not verdict.holds for verdict in verdicts) == missed


def test_the_99th_percentile_is_no_longer_than_the_longest() -> None:
    times = [float(number) for number in range(1, 101)]
    assert quantile(times, 0.99) == 100.0
    assert quantile(sorted([*times, 101.0] * 10), 0.99) == 100.0
    assert quantile([5.0], 0.99) == 5.0


def test_thinned_out_times_include_both_ends() -> None:
    times = [float(number) for number in range(1000)]
    samples = thin_out(times)
    assert (samples[0], samples[-1], len(samples)) == (0.0, 999.0, 200)
