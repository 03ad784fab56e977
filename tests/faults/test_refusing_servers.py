# SPDX-License-Identifier: Apache-2.0

"""The server answers, and will not do what it is asked: it is busy, read-only, or has no room for us.

Whoever cannot be served is told so in the API's own shape, with the time to wait; nothing of it is written; and as
soon as the server gives way, all is well without anybody's help.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pymysql
import pytest
from sqlalchemy import make_url

from tests.faults.books import Books
from tests.faults.ground import Ground
from tests.faults.requests import claim, new_uuid
from tests.faults.services import assert_unavailable, says_nothing_was_changed, settle
from tests.faults.strangers import TAKE_HEAD, Stranger
from tests.support.api import Answer, Api, api

SERIALIZATION_FAILURE = {
    "postgresql": "IF nextval('troubles') <= 3 THEN RAISE EXCEPTION 'lost a race' USING ERRCODE = '40001'; END IF",
    "mariadb": "UPDATE troubles SET n = n + 1;"
    " IF (SELECT n FROM troubles) <= 3 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF",
}
COUNTED_TROUBLES = {
    "postgresql": ["CREATE SEQUENCE troubles"],
    # Of a kind that forgets nothing when a transaction is undone.
    "mariadb": ["CREATE TABLE troubles (n INT) ENGINE = MyISAM", "INSERT INTO troubles VALUES (0)"],
}
SLOW = {"postgresql": "PERFORM pg_sleep(1)", "mariadb": "DO SLEEP(1)"}


@dataclass
class Case:
    engine: str
    api: Api
    stranger: Stranger
    books: Books
    host: str

    def claim(self) -> Answer:
        return self.api.put(f"/allocations/{new_uuid()}", claim(self.host))

    def assert_reads_go_on(self) -> None:
        assert self.api.get(f"/resource_providers/{self.host}").status == 200
        assert self.api.get("/allocation_candidates?resources=VCPU:1").status == 200
        assert self.api.get(f"/allocations/{new_uuid()}").status == 200

    def assert_refused(self, answer: Answer) -> None:
        assert_unavailable(answer)
        assert says_nothing_was_changed(answer)
        assert self.books.holders([self.host]) == {}

    def assert_not_permitted(self, answer: Answer) -> None:
        """In one sentence. Whom it is about, and what the database says of its tables, is for the log."""
        self.assert_refused(answer)
        assert " The database does not permit this. Nothing was" in answer.detail

    @contextmanager
    def without(self, right: str) -> Iterator[None]:
        """A right on all tables that the service's user does not have for a while."""
        where = (
            "ALL TABLES IN SCHEMA public" if self.engine == "postgresql" else f"{self.stranger.database}.*"
        )
        self.stranger.run(f"REVOKE {right} ON {where} FROM placement")
        self.stranger.end_all()  # who is connected keeps a right
        try:
            yield
        finally:
            self.stranger.run(f"GRANT {right} ON {where} TO placement")
            self.stranger.end_all()


@pytest.fixture
def case(ground: Ground, url: str, impatient: None) -> Iterator[Case]:
    """A service that comes as a user without an administrator's rights, as a service should."""
    stranger = Stranger(ground.server, url)
    if ground.engine == "postgresql":
        make_user = ["CREATE ROLE placement LOGIN", "GRANT ALL ON ALL TABLES IN SCHEMA public TO placement"]
        make_user += ["GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO placement"]
        drop_user = ["DROP OWNED BY placement", "DROP ROLE placement"]
    else:
        make_user = ["CREATE USER placement@'%'", f"GRANT ALL ON {stranger.database}.* TO placement@'%'"]
        drop_user = ["DROP USER placement@'%'"]
    stranger.run(*make_user)
    theirs = make_url(url).set(username="placement").render_as_string(hide_password=False)
    books = Books(url)
    try:
        with api(theirs) as service:
            host = service.host(new_uuid(), VCPU=100_000)
            yield Case(ground.engine, service, stranger, books, host)
            settle(service)
            assert service.put(f"/allocations/{new_uuid()}", claim(host)).status == 204
        books.assert_sound()
        books.close()
    finally:
        stranger.end_all()
        stranger.run(*drop_user)


def test_a_head_that_a_stranger_holds_for_longer_than_we_wait(case: Case) -> None:
    with case.stranger.transaction(TAKE_HEAD):
        case.assert_refused(case.claim())
        case.assert_reads_go_on()
    assert case.claim().status == 204


def test_a_head_that_a_stranger_holds_for_a_moment(case: Case) -> None:
    answers: list[Answer] = []
    with case.stranger.transaction(TAKE_HEAD):
        waiting = threading.Thread(target=lambda: answers.append(case.claim()))
        waiting.start()
        waiting.join(0.3)
        assert answers == []
    waiting.join(30)
    assert [answer.status for answer in answers] == [204]


def test_a_statement_that_takes_longer_than_the_server_allows(case: Case) -> None:
    if case.engine == "postgresql":
        limit, no_limit = (
            f"ALTER DATABASE {case.stranger.database} SET statement_timeout = {milliseconds}"
            for milliseconds in (300, 0)
        )
    else:
        limit, no_limit = (f"SET GLOBAL max_statement_time = {seconds}" for seconds in (0.3, 0))
    case.stranger.run(limit)
    try:
        with case.stranger.trouble("allocations", SLOW[case.engine]):
            case.stranger.end_all()
            settle(case.api)
            case.assert_refused(case.claim())
            case.assert_reads_go_on()
    finally:
        case.stranger.run(no_limit)
        case.stranger.end_all()
    assert case.claim().status == 204


def test_a_race_that_the_server_says_was_lost_is_run_again(case: Case) -> None:
    case.stranger.run(*COUNTED_TROUBLES[case.engine])
    if case.engine == "postgresql":
        case.stranger.run("GRANT ALL ON SEQUENCE troubles TO placement")
    with case.stranger.trouble("allocations", SERIALIZATION_FAILURE[case.engine]):
        assert case.claim().status == 204
    assert sum(case.books.holders([case.host]).values()) == 1


def test_a_race_that_is_lost_at_the_commit_is_run_again(case: Case) -> None:
    if case.engine != "postgresql":
        pytest.skip("MariaDB has no triggers that wait for the commit; its Galera is tested by itself")
    case.stranger.run(*COUNTED_TROUBLES[case.engine], "GRANT ALL ON SEQUENCE troubles TO placement")
    with case.stranger.trouble("allocations", SERIALIZATION_FAILURE[case.engine], at_commit=True):
        assert case.claim().status == 204
    assert sum(case.books.holders([case.host]).values()) == 1


def test_a_commit_that_the_server_refuses_is_not_said_to_be_in_doubt(case: Case) -> None:
    if case.engine != "postgresql":
        pytest.skip("MariaDB has no triggers that wait for the commit")
    full = "RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'"
    with case.stranger.trouble("allocations", full, at_commit=True):
        case.assert_refused(case.claim())


def test_a_deadlock_with_a_stranger_is_resolved(case: Case) -> None:
    answers: list[Answer] = []
    with case.stranger.transaction("UPDATE resource_providers SET name = name") as stranger:
        waiting = threading.Thread(target=lambda: answers.append(case.claim()))
        waiting.start()
        waiting.join(0.3)
        try:
            stranger.execute(TAKE_HEAD)
        except Exception as victim:
            assert "deadlock" in str(victim).lower() or "lock" in str(victim).lower()
    waiting.join(30)
    assert [answer.status for answer in answers] == [204]
    assert sum(case.books.holders([case.host]).values()) == 1


def test_a_server_that_is_read_only_takes_no_writes_and_answers_reads(case: Case) -> None:
    if case.engine == "postgresql":
        off, on = (
            f"ALTER DATABASE {case.stranger.database} SET default_transaction_read_only = {state}"
            for state in ("off", "on")
        )
    else:
        off, on = "SET GLOBAL read_only = 0", "SET GLOBAL read_only = 1"
    case.stranger.run(on)
    case.stranger.end_all()
    settle(case.api)
    try:
        case.assert_refused(case.claim())
        case.assert_reads_go_on()
    finally:
        case.stranger.run(
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"
            if case.engine == "postgresql"
            else "DO 0",
            off,
        )
        case.stranger.end_all()
    assert case.claim().status == 204


@pytest.mark.parametrize("right", ["INSERT", "SELECT"])
def test_a_right_that_is_missing_is_named_and_not_taken_for_a_server_that_takes_no_writes(
    case: Case, right: str, caplog: pytest.LogCaptureFixture
) -> None:
    with case.without(right):
        case.assert_not_permitted(case.claim())
        if right == "SELECT":
            case.assert_not_permitted(case.api.get(f"/allocations/{new_uuid()}"))
        else:
            case.assert_reads_go_on()
    words = (
        "permission denied for table" if case.engine == "postgresql" else f"{right} command denied to user"
    )
    assert words in caplog.text
    assert "To the user 'placement': " in caplog.text
    settle(case.api)
    assert case.claim().status == 204


def test_a_user_who_is_not_let_in_is_not_taken_for_a_server_that_cannot_be_reached(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    if case.engine == "postgresql":
        off, on = "ALTER ROLE placement NOLOGIN", "ALTER ROLE placement LOGIN"
        words = 'role "placement" is not permitted to log in'
    else:
        off, on = (f"ALTER USER placement@'%' ACCOUNT {state}" for state in ("LOCK", "UNLOCK"))
        words = "this account is locked"
    case.stranger.run(off)
    case.stranger.end_all()
    try:
        case.assert_not_permitted(case.claim())
        case.assert_not_permitted(case.api.get(f"/resource_providers/{case.host}"))
    finally:
        case.stranger.run(on)
    assert words in caplog.text
    assert "To the user 'placement': " in caplog.text
    settle(case.api)
    assert case.claim().status == 204


def test_a_server_that_has_no_connection_left_for_us(case: Case) -> None:
    if case.engine == "postgresql":
        off, on = (f"ALTER ROLE placement CONNECTION LIMIT {limit}" for limit in (-1, 0))
    else:
        # Zero would mean without a limit.
        off, on = (f"ALTER USER placement@'%' WITH MAX_USER_CONNECTIONS {limit}" for limit in (0, 1))
    case.stranger.run(on)
    case.stranger.end_all()
    try:
        with occupied(case):
            case.assert_refused(case.claim())
            assert_unavailable(case.api.get(f"/resource_providers/{case.host}"))
    finally:
        case.stranger.run(off)
    settle(case.api)
    assert case.claim().status == 204


@contextmanager
def occupied(case: Case) -> Iterator[None]:
    """The one connection that MariaDB has for the user is taken; PostgreSQL has none to begin with."""
    if case.engine == "postgresql":
        yield
        return
    server = case.stranger.server
    connection = pymysql.connect(host=server.host, port=server.port, user="placement", ssl_disabled=True)
    yield
    connection.close()
