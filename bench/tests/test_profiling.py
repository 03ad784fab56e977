# SPDX-License-Identifier: Apache-2.0

"""Time is counted for the stage that it was spent in, also when nobody could look."""

from __future__ import annotations

import time

from bench.client.http import request, written
from bench.profiling.inprocess import request_of
from bench.profiling.sampling import Place, sampled
from bench.profiling.stages import BY_FILE, HARNESS, OURS, STAGES, WHOLE, classified


def ours(file: str, function: str) -> Place:
    return f"{OURS}{file}", function


def busy(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def waiting(seconds: float) -> None:
    time.sleep(seconds)


def test_a_wait_counts_as_much_as_work() -> None:
    def by_function(places: list[Place]) -> tuple[str, str]:
        return next((name for _, name in places if name in ("busy", "waiting")), "other"), ""

    with sampled(by_function) as found:
        for _ in range(10):
            busy(0.02)
            waiting(0.02)
    # Each took 0.2 s at least; how much longer, the machine decides.
    assert found["busy", ""] > 0.15
    assert found["waiting", ""] > 0.15


def test_a_library_counts_for_the_function_of_ours_that_called_it() -> None:
    stack = [
        ("/lib/orjson.py", "dumps"),
        ours("api/placement/views/candidates.py", "_summary"),
        ours("api/app.py", "_answer"),
    ]
    assert classified(stack) == ("encoding", "api/placement/views/candidates.py: _summary")


def test_a_query_to_follow_the_head_is_no_other_sql() -> None:
    stack = [
        ours("storage/changes.py", "since"),
        ours("ledger/follow.py", "follow"),
        ours("api/app.py", "_answer"),
    ]
    assert classified(stack)[0] == "following the head"
    assert classified([stack[0], stack[2]])[0] == "SQL"


def test_a_commit_is_told_from_other_sql() -> None:
    commit = ("/site-packages/sqlalchemy/engine/base.py", "_commit_impl")
    assert classified([commit, ours("storage/dialects/commit.py", "transaction")])[0] == "commit"


def test_what_runs_outside_of_the_service_is_not_counted_for_it() -> None:
    assert classified([(__file__, "busy")]) == (HARNESS, HARNESS)


def test_every_stage_is_shown() -> None:
    assert {stage for stage, *_ in WHOLE} | {stage for _, stage in BY_FILE} == set(STAGES)


def test_an_application_sees_the_request_that_a_client_sends() -> None:
    made = request_of(request("GET", "/usages?project_id=x"))
    assert (made["PATH_INFO"], made["QUERY_STRING"]) == ("/usages", "project_id=x")
    assert made["HTTP_OPENSTACK_API_VERSION"].startswith("placement ")
    made = request_of(written("PUT", "/x", '{"a":1}'))
    assert (made["CONTENT_TYPE"], made["CONTENT_LENGTH"]) == ("application/json", "7")
    assert made["wsgi.input"].read() == b'{"a":1}'
