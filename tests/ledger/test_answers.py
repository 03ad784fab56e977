# SPDX-License-Identifier: Apache-2.0

"""Answers are kept for as long as nothing changes, and no longer; not too much of them is kept."""

from __future__ import annotations

from uuid import uuid4

from plimsoll.domain.provider import Provider
from plimsoll.ledger.response_cache import LONGEST_QUERY, MOST_BYTES, ResponseCache
from plimsoll.service import candidates, providers
from plimsoll.service.placement import Placement, Settings
from tests.ledger.conftest import SOMEBODY


class Counted:
    """Works out an answer of this length, and counts how often."""

    def __init__(self, length: int = 1, *, may_be_kept: bool = True) -> None:
        self.times = 0
        self._length = length
        self._may_be_kept = may_be_kept

    def __call__(self) -> tuple[bytes, bool]:
        self.times += 1
        return b"x" * self._length, self._may_be_kept


def test_the_same_question_is_answered_once() -> None:
    answers, first, other = ResponseCache(), Counted(), Counted()
    assert answers.to("a question", "in short", first) is answers.to("a question", "in short", first)
    answers.to("another", "in short", other)
    answers.to("a question", "at length", other)
    assert (first.times, other.times) == (1, 2)


def test_what_has_no_room_is_worked_out_again() -> None:
    answers, large, small = ResponseCache(), Counted(MOST_BYTES - 1000), Counted(1)
    for _ in range(2):
        assert len(answers.to("large", None, large)) == MOST_BYTES - 1000
        assert len(answers.to("small", None, small)) == 1
    assert (large.times, small.times) == (1, 2)


def test_queries_take_room_too() -> None:
    answers, nothing = ResponseCache(), Counted(0)
    queries = [f"{number:04}".ljust(LONGEST_QUERY) for number in range(2000)]
    for query in queries * 2:
        answers.to(query, None, nothing)
    kept = 4000 - nothing.times
    assert MOST_BYTES // (LONGEST_QUERY + 1024) < kept < MOST_BYTES // LONGEST_QUERY


def test_a_long_query_is_not_kept() -> None:
    answers, count = ResponseCache(), Counted()
    for _ in range(2):
        answers.to("q" * (LONGEST_QUERY + 1), None, count)
    assert count.times == 2


def test_an_answer_that_could_have_been_more_is_not_kept() -> None:
    answers, partial = ResponseCache(), Counted(may_be_kept=False)
    for _ in range(2):
        assert answers.to("a search that took too long", None, partial) == b"x"
    assert partial.times == 2


def test_who_asks_again_after_a_write_gets_a_new_answer(placement: Placement, other: Placement) -> None:
    count = Counted()
    for writer in (placement, other):
        for _ in range(2):
            candidates.cached(placement, "where?", None, count)
        uuid = str(uuid4())
        assert isinstance(providers.create(writer, SOMEBODY, uuid, uuid, None), Provider)
    candidates.cached(placement, "where?", None, count)
    assert count.times == 3


def test_nothing_is_kept_where_the_order_is_random(placement: Placement) -> None:
    count, shuffling = Counted(), Placement(placement.ledger, Settings(shuffle=True))
    for _ in range(2):
        candidates.cached(shuffling, "where?", None, count)
    assert count.times == 2
