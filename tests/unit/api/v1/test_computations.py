# SPDX-License-Identifier: Apache-2.0

"""The number of long computations in progress is limited; the others wait without a permit."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from plimsoll.api.v1 import computations
from plimsoll.api.v1.computations import MAX_RUNNING, computation, wait_for_memory
from plimsoll.http.problems import Problem
from plimsoll.permit import UNLIMITED, Permit
from tests.support.waiting import eventually


class RecordedPermit(Permit):
    def __init__(self) -> None:
        self.releases = 0

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        self.releases += 1
        yield

    def wait_for_memory(self) -> bool:
        return False


def test_at_most_so_many_computations_run_at_a_time() -> None:
    running, most, resume, lock = 0, 0, threading.Event(), threading.Lock()
    permits = [RecordedPermit() for _ in range(MAX_RUNNING + 3)]

    def compute(permit: Permit) -> None:
        nonlocal running, most
        with computation(permit):
            with lock:
                running += 1
                most = max(most, running)
            resume.wait(60)
            with lock:
                running -= 1

    with ThreadPoolExecutor(len(permits)) as pool:
        futures = [pool.submit(compute, each) for each in permits]
        assert eventually(lambda: running == MAX_RUNNING and sum(each.releases for each in permits) == 3)
        resume.set()
        for each in futures:
            each.result(60)
    assert most == MAX_RUNNING


def test_a_computation_that_fails_gives_its_slot_to_others() -> None:
    for _ in range(MAX_RUNNING + 1):
        with pytest.raises(ValueError, match="broken"), computation(UNLIMITED):
            raise ValueError("broken")
    with computation(UNLIMITED):
        pass


def test_a_request_that_waits_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computations, "LONGEST_WAIT", 0.01)
    with ExitStack() as stack:
        for _ in range(MAX_RUNNING):
            stack.enter_context(computation(UNLIMITED))
        with pytest.raises(Problem) as raised, computation(UNLIMITED):
            pass
    assert (raised.value.status, raised.value.retry_after) == (503, 5)


def test_a_long_response_without_memory_is_refused() -> None:
    with pytest.raises(Problem) as raised:
        wait_for_memory(RecordedPermit())
    assert (raised.value.status, raised.value.retry_after) == (503, 5)
