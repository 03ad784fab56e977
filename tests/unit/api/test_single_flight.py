# SPDX-License-Identifier: Apache-2.0

"""An operation that may hang runs in one thread, and its callers wait for a limited time."""

from __future__ import annotations

import threading

import pytest

from plimsoll.api.single_flight import SingleFlight


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
