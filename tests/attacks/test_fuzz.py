# SPDX-License-Identifier: Apache-2.0

"""2,000 mutated requests; `make fuzz` sends 100,000."""

from __future__ import annotations

from pathlib import Path

from tests.attacks.fuzz.requests import Generations, fuzzed
from tests.attacks.fuzz.run import build, run
from tests.attacks.target import Target

REQUESTS = 2_000
SEED = 18


def test_mutated_requests_get_valid_responses(tmp_path: Path) -> None:
    with Target(tmp_path, settings={"OS_PLIMSOLL__VERIFY_INTERVAL": "2"}) as target:
        build(target)
        result = run(target, SEED, range(REQUESTS))
    assert result.failures == []
    assert result.problems == []
    assert sum(result.statuses.values()) == REQUESTS
    assert result.statuses[200] > REQUESTS / 10
    assert result.statuses[400] > REQUESTS / 10


def test_a_request_depends_on_its_seed_and_number_alone() -> None:
    assert [fuzzed(1, number) for number in range(300)] == [fuzzed(1, number) for number in range(300)]
    assert fuzzed(1, 5) != fuzzed(2, 5)


def test_generations_are_filled_in_with_the_right_length() -> None:
    content = b'PUT / HTTP/1.1\r\nContent-Length: 18\r\n\r\n{"a": "@P1@", "b": "@C2@"}'
    filled = Generations().fill_in(content)
    head, _, body = filled.partition(b"\r\n\r\n")
    assert body == b'{"a": 0, "b": null}'
    assert head.endswith(b"Content-Length: %d" % len(body))
