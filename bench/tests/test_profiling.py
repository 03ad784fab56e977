# SPDX-License-Identifier: Apache-2.0

"""Time is counted for the stage in which it was spent, also while no sample is possible."""

from __future__ import annotations

import time

from bench.client.http import request, request_with_json
from bench.profiling.inprocess import environ_of
from bench.profiling.sampling import Frame, sample
from bench.profiling.stages import BY_FILE, CALLER_STAGES, OURS, OUTSIDE, STAGES, classify


def ours(file: str, function: str) -> Frame:
    return f"{OURS}{file}", function


def busy(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def waiting(seconds: float) -> None:
    time.sleep(seconds)


def test_a_wait_counts_as_much_as_work() -> None:
    def by_function(frames: list[Frame]) -> tuple[str, str]:
        return next((name for _, name in frames if name in ("busy", "waiting")), "other"), ""

    with sample(by_function) as found:
        for _ in range(10):
            busy(0.02)
            waiting(0.02)
    # Each took at least 0.2 s; more on a busy machine.
    assert found["busy", ""] > 0.15
    assert found["waiting", ""] > 0.15


def test_a_library_call_counts_for_our_calling_function() -> None:
    stack = [
        ("/lib/orjson.py", "dumps"),
        ours("api/placement/views/candidates.py", "_summary"),
        ours("api/app.py", "_answer"),
    ]
    assert classify(stack) == ("encoding", "api/placement/views/candidates.py: _summary")


def test_a_query_that_follows_the_head_is_not_other_sql() -> None:
    stack = [
        ours("storage/changes.py", "since"),
        ours("ledger/follow.py", "follow"),
        ours("api/app.py", "_answer"),
    ]
    assert classify(stack)[0] == "following the head"
    assert classify([stack[0], stack[2]])[0] == "SQL"


def test_a_commit_is_separate_from_other_sql() -> None:
    commit = ("/site-packages/sqlalchemy/engine/base.py", "_commit_impl")
    assert classify([commit, ours("storage/dialects/commit.py", "transaction")])[0] == "commit"


def test_code_outside_of_the_service_is_not_counted() -> None:
    assert classify([(__file__, "busy")]) == (OUTSIDE, OUTSIDE)


def test_every_stage_is_shown() -> None:
    assert {stage for stage, *_ in CALLER_STAGES} | {stage for _, stage in BY_FILE} == set(STAGES)


def test_the_environ_has_the_request_of_the_client() -> None:
    environ = environ_of(request("GET", "/usages?project_id=x"))
    assert (environ["PATH_INFO"], environ["QUERY_STRING"]) == ("/usages", "project_id=x")
    assert environ["HTTP_OPENSTACK_API_VERSION"].startswith("placement ")
    environ = environ_of(request_with_json("PUT", "/x", '{"a":1}'))
    assert (environ["CONTENT_TYPE"], environ["CONTENT_LENGTH"]) == ("application/json", "7")
    assert environ["wsgi.input"].read() == b'{"a":1}'
