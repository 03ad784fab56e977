# SPDX-License-Identifier: Apache-2.0

"""The tables of unplaced searches: equal queries share an entry, and both tables are pruned."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from plimsoll.domain.unplaced import SearchSummary, UnplacedEntry, UnplacedQuery, UnplacedRequest
from plimsoll.storage import unplaced
from plimsoll.storage.database import Database
from plimsoll.storage.errors import Busy
from plimsoll.storage.sql import utc_now
from plimsoll.storage.unplaced import UnplacedFilter, UnplacedPosition

NOW = utc_now().replace(microsecond=123456)
WHY = SearchSummary("0badcafe:7", "capacity", "not now", "No candidates: too little VCPU.")
ANY = UnplacedFilter()


def query(text: str = "resources=VCPU:1", project: str | None = "p") -> UnplacedQuery:
    return UnplacedQuery(project, text, "1.39")


def request(number: int = 1, minutes: float = 0) -> UnplacedRequest:
    at = NOW - timedelta(minutes=minutes)
    return UnplacedRequest(at, f"req-own-{number}", f"req-global-{number}", "u", WHY)


def record(db: Database, searches: Mapping[UnplacedQuery, Sequence[UnplacedRequest]]) -> list[UnplacedQuery]:
    with db.background_transaction() as transaction:
        new = unplaced.record(transaction.connection, searches)
        transaction.commit()
        return new


def prune(db: Database, keep: int = 1000, keep_requests: int = 1000, minutes: float = 1e6) -> int:
    with db.background_transaction() as transaction:
        oldest = NOW - timedelta(minutes=minutes)
        pruned = unplaced.prune(transaction.connection, keep, keep_requests, oldest)
        transaction.commit()
        return pruned


def page(db: Database, limit: int = 100, after: UnplacedPosition | None = None) -> list[UnplacedEntry]:
    return db.run_read(lambda conn: unplaced.page(conn, ANY, limit, after))


def found(db: Database, request_id: str) -> list[UnplacedEntry]:
    return db.run_read(lambda conn: unplaced.with_request_id(conn, request_id, ANY))


def test_an_entry_is_read_as_it_was_written(db: Database) -> None:
    assert record(db, {query(): [request(1, minutes=2), request(2)]}) == [query()]
    (entry,) = page(db)
    assert (entry.query, entry.searches, entry.user, entry.why) == (query(), 2, "u", WHY)
    assert (entry.first_at, entry.last_at) == (request(1, minutes=2).at, NOW)
    assert entry.requests == (request(2), request(1, minutes=2))


def test_a_second_batch_adds_to_the_entry(db: Database) -> None:
    record(db, {query(): [request(1, minutes=1)]})
    assert record(db, {query(): [request(2)], query("other"): [request(3)]}) == [query("other")]
    entries = {entry.query: entry for entry in page(db)}
    assert entries[query()].searches == 2
    assert entries[query()].first_at == request(1, minutes=1).at


@pytest.mark.parametrize("request_id", ["req-own-2", "req-global-2"])
def test_a_request_id_finds_its_search_alone(db: Database, request_id: str) -> None:
    record(db, {query(): [request(1), request(2)], query("other"): [request(3)]})
    (entry,) = found(db, request_id)
    assert (entry.query, entry.requests) == (query(), (request(2),))


def test_a_request_with_several_searches_finds_all_of_them(db: Database) -> None:
    record(db, {query(): [request(1)], query("other"): [request(1)]})
    assert {entry.query for entry in found(db, "req-global-1")} == {query(), query("other")}


def test_a_caller_without_a_project_has_entries_of_its_own(db: Database) -> None:
    record(db, {query(project=None): [request(1)], query(): [request(2)]})
    assert {entry.query.project for entry in page(db)} == {None, "p"}


def test_long_and_unusual_texts_are_stored_shortened_and_escaped(db: Database) -> None:
    why = SearchSummary("0badcafe:7", "capacity", "never", "x" * 5_000)
    odd = UnplacedRequest(NOW, "r" * 100, None, "ü\N{GRINNING FACE}\x00", why)
    text = "resources=\N{GRINNING FACE}\x00\udc80&" + "x" * 50_000
    record(db, {query(text, project="p" * 300): [odd]})
    (entry,) = page(db)
    assert entry.query.query.startswith("resources=\N{GRINNING FACE}\\x00\\udc80&xx")
    assert len(entry.query.query) == unplaced.MAX_QUERY_CHARS
    assert len(entry.why.summary) == unplaced.MAX_SUMMARY_CHARS
    assert entry.user == "ü\N{GRINNING FACE}\\x00"
    assert record(db, {query(text, project="p" * 300): [odd]}) == [], "the same entry, by the whole query"


def test_pages_continue_among_entries_of_the_same_time(db: Database) -> None:
    queries = [query(f"q{number}") for number in range(7)]
    record(db, {each: [request(number)] for number, each in enumerate(queries)})
    listed: list[UnplacedEntry] = []
    after = None
    while some := page(db, 2, after):
        listed += some
        after = UnplacedPosition(some[-1].last_at, some[-1].id)
    assert sorted(entry.query.query for entry in listed) == [each.query for each in queries]


def test_the_oldest_entries_beyond_the_limit_are_pruned_with_their_requests(db: Database) -> None:
    for number in range(5):
        record(db, {query(f"q{number}"): [request(number, minutes=10 - number)]})
    assert prune(db, keep=2) == 3
    assert [entry.query.query for entry in page(db)] == ["q4", "q3"]
    assert found(db, "req-own-0") == []
    assert prune(db, keep=2) == 0


def test_a_repeated_entry_is_not_the_oldest(db: Database) -> None:
    for number in (0, 1, 2, 0):
        record(db, {query(f"q{number}"): [request(number)]})
    record(db, {query("q0"): [request(9, minutes=-1)]})
    prune(db, keep=1)
    assert [entry.query.query for entry in page(db)] == ["q0"]


def test_the_oldest_requests_beyond_the_limit_are_pruned_and_the_entry_stays(db: Database) -> None:
    record(db, {query(): [request(number) for number in range(10)]})
    assert prune(db, keep_requests=4) == 6
    (entry,) = page(db)
    assert (entry.searches, len(entry.requests)) == (10, 4)
    assert found(db, "req-own-5") == []
    assert len(found(db, "req-own-6")) == 1


def test_old_entries_and_requests_are_pruned(db: Database) -> None:
    record(db, {query("old"): [request(1, minutes=90)]})
    record(db, {query("repeated"): [request(2, minutes=90), request(3)]})
    prune(db, minutes=60)
    (entry,) = page(db)
    assert (entry.query, entry.requests) == (query("repeated"), (request(3),))


def test_writers_of_the_same_entry_lose_no_search(db: Database) -> None:
    def write(writer: int) -> None:
        for number in range(20):
            searches = {query(f"q{each}"): [request(writer * 100 + number)] for each in range(3)}
            while True:
                try:
                    record(db, searches)
                except Busy:
                    continue
                break

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert [entry.searches for entry in page(db)] == [80, 80, 80]
