# SPDX-License-Identifier: Apache-2.0

"""Concurrent calls share a run of an operation: one that may hang, or one that takes long."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from plimsoll.api.single_flight import SharedRuns, SingleFlight
from tests.support.waiting import eventually


def test_concurrent_calls_share_the_thread_of_an_operation_that_hangs() -> None:
    started, resume = [], threading.Event()

    def check() -> str:
        started.append(threading.current_thread())
        resume.wait(60)
        return "good"

    checks = SingleFlight(check, "check")
    assert [checks.run(0.01) for _ in range(3)] == [None] * 3
    assert len(started) == 1
    resume.set()
    assert checks.run(60) == "good"
    started[0].join(60)
    assert checks.run(60) == "good"
    assert len(started) == 2


def test_an_exception_is_raised_by_the_call() -> None:
    def check() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        SingleFlight(check, "check").run(60)


def test_calls_that_arrive_during_a_run_share_the_next_one() -> None:
    runs, resume = SharedRuns[int](), threading.Event()
    begun: list[None] = []

    def operation() -> int:
        begun.append(None)
        resume.wait(60)
        return len(begun)

    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(runs.run, operation)
        assert eventually(lambda: len(begun) == 1)
        others = [pool.submit(runs.run, operation) for _ in range(8)]
        assert not first.done()
        resume.set()
        assert first.result(60) == 1
        assert {each.result(60) for each in others} <= {2, 3}  # 3 for those that began after the second run
    assert len(begun) <= 3


def test_a_run_that_fails_fails_for_its_callers_alone() -> None:
    runs = SharedRuns[int]()

    def fail() -> int:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        runs.run(fail)
    assert runs.run(lambda: 7) == 7
