# SPDX-License-Identifier: Apache-2.0

"""What Keystone said is remembered as long as the operator says, and no longer."""

from __future__ import annotations

import pytest

from plimsoll.access.tokens import TokenMemory


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


SAID = {"token": {"user": {"id": "ada"}}}


def test_a_token_is_known_for_so_many_seconds_however_often_it_is_used(clock: Clock) -> None:
    memory = TokenMemory(300, clock=clock)
    assert memory.get("t") is None
    memory.put("t", SAID)
    for _ in range(3):
        clock.now += 99.99
        assert memory.get("t") == SAID
    clock.now += 0.03
    assert memory.get("t") is None
    assert memory.get("another") is None


def test_nothing_is_kept_where_the_operator_wants_no_cache(clock: Clock) -> None:
    memory = TokenMemory(-1, clock=clock)
    memory.put("t", SAID)
    assert memory.get("t") is None


def test_zero_is_for_ever_as_in_memcached(clock: Clock) -> None:
    memory = TokenMemory(0, clock=clock)
    memory.put("t", SAID)
    clock.now += 1e9
    assert memory.get("t") == SAID


def test_the_oldest_make_room(clock: Clock) -> None:
    memory = TokenMemory(300, max_tokens=2, clock=clock)
    for token in ("a", "b", "a", "c"):
        memory.put(token, SAID)
        clock.now += 1
    assert [token for token in "abc" if memory.get(token)] == ["a", "c"]


def test_what_is_no_longer_known_takes_no_room(clock: Clock) -> None:
    memory = TokenMemory(300, clock=clock)
    memory.put("a", SAID)
    clock.now += 301
    memory.put("b", SAID)
    assert len(memory) == 1


def test_of_the_catalog_the_types_are_kept_and_what_was_said_stays_as_it_was(clock: Clock) -> None:
    memory = TokenMemory(300, clock=clock)
    catalog = [{"type": "placement", "endpoints": [{"url": "http://here"}]}, {"type": "compute"}]
    said = {"token": {**SAID["token"], "catalog": catalog}}
    memory.put("t", said)
    assert memory.get("t") == {
        "token": {**SAID["token"], "catalog": [{"type": "placement"}, {"type": "compute"}]}
    }
    assert said["token"]["catalog"] is catalog


def test_whoever_looks_into_memory_finds_no_token(clock: Clock) -> None:
    memory = TokenMemory(300, clock=clock)
    memory.put("a-very-secret-token", SAID)
    assert "a-very-secret-token" not in repr(memory._known._values)


def test_long_answers_take_no_more_bytes_than_there_are(clock: Clock) -> None:
    memory = TokenMemory(300, max_bytes=1_000_000, clock=clock)
    roles = [{"id": "r" * 32, "name": f"role {number}"} for number in range(1_000)]
    for number in range(100):
        memory.put(f"token {number}", {"token": {"user": {"id": "ada"}, "roles": roles}})
        assert memory.size <= 1_000_000
    assert memory.get("token 99") == {"token": {"user": {"id": "ada"}, "roles": roles}}
    assert memory.get("token 0") is None


def test_an_answer_is_a_copy_of_its_own(clock: Clock) -> None:
    memory = TokenMemory(300, clock=clock)
    memory.put("t", SAID)
    first, second = memory.get("t"), memory.get("t")
    assert first == second
    assert first is not second
