# SPDX-License-Identifier: Apache-2.0

"""The database server responds with errors: it is busy, read-only, or out of connections.

The request fails with 503 in the API's format and a `Retry-After`, and nothing is written. As soon as the server works
again, requests succeed again without intervention.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pymysql
import pytest
from sqlalchemy import make_url

from tests.faults.administrator import LOCK_HEAD, Administrator
from tests.faults.database_rows import DatabaseRows
from tests.faults.private_server import PrivateServer
from tests.faults.requests import claim, new_uuid
from tests.faults.services import assert_unavailable, states_nothing_was_changed, wait_until_recovered
from tests.support.api import Api, Response, api

SERIALIZATION_FAILURE = {
    "postgresql": "IF nextval('trigger_runs') <= 3 THEN RAISE EXCEPTION 'lost a race' USING ERRCODE = '40001'; END IF",
    "mariadb": "UPDATE trigger_runs SET n = n + 1;"
    " IF (SELECT n FROM trigger_runs) <= 3 THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF",
}
TRIGGER_COUNTERS = {
    "postgresql": ["CREATE SEQUENCE trigger_runs"],
    # MyISAM: a rollback does not undo its changes.
    "mariadb": ["CREATE TABLE trigger_runs (n INT) ENGINE = MyISAM", "INSERT INTO trigger_runs VALUES (0)"],
}
SLOW = {"postgresql": "PERFORM pg_sleep(1)", "mariadb": "DO SLEEP(1)"}


@dataclass
class Case:
    engine: str
    api: Api
    administrator: Administrator
    database_rows: DatabaseRows
    host: str

    def claim(self) -> Response:
        return self.api.put(f"/allocations/{new_uuid()}", claim(self.host))

    def assert_reads_succeed(self) -> None:
        assert self.api.get(f"/resource_providers/{self.host}").status == 200
        assert self.api.get("/allocation_candidates?resources=VCPU:1").status == 200
        assert self.api.get(f"/allocations/{new_uuid()}").status == 200

    def assert_refused(self, response: Response) -> None:
        assert_unavailable(response)
        assert states_nothing_was_changed(response)
        assert self.database_rows.allocation_counts([self.host]) == {}

    def assert_not_permitted(self, response: Response) -> None:
        """The response has one sentence. The user and the text of the database are only in the log."""
        self.assert_refused(response)
        assert " The database does not permit this. Nothing was" in response.detail

    @contextmanager
    def without(self, right: str) -> Iterator[None]:
        """Revoke a right on all tables from the service's user for the `with` block."""
        where = (
            "ALL TABLES IN SCHEMA public"
            if self.engine == "postgresql"
            else f"{self.administrator.database}.*"
        )
        self.administrator.run(f"REVOKE {right} ON {where} FROM placement")
        self.administrator.terminate_all()  # open connections would keep the right
        try:
            yield
        finally:
            self.administrator.run(f"GRANT {right} ON {where} TO placement")
            self.administrator.terminate_all()


@pytest.fixture
def case(private_server: PrivateServer, url: str, short_timeouts: None) -> Iterator[Case]:
    """A service whose database user has no administrator rights, as in production."""
    administrator = Administrator(private_server.server, url)
    if private_server.engine == "postgresql":
        make_user = ["CREATE ROLE placement LOGIN", "GRANT ALL ON ALL TABLES IN SCHEMA public TO placement"]
        make_user += ["GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO placement"]
        drop_user = ["DROP OWNED BY placement", "DROP ROLE placement"]
    else:
        make_user = ["CREATE USER placement@'%'", f"GRANT ALL ON {administrator.database}.* TO placement@'%'"]
        drop_user = ["DROP USER placement@'%'"]
    administrator.run(*make_user)
    service_url = make_url(url).set(username="placement").render_as_string(hide_password=False)
    database_rows = DatabaseRows(url)
    try:
        with api(service_url) as service:
            host = service.host(new_uuid(), VCPU=100_000)
            yield Case(private_server.engine, service, administrator, database_rows, host)
            wait_until_recovered(service)
            assert service.put(f"/allocations/{new_uuid()}", claim(host)).status == 204
        database_rows.assert_consistent()
        database_rows.close()
    finally:
        administrator.terminate_all()
        administrator.run(*drop_user)


def test_a_claim_fails_if_another_program_holds_the_head_for_longer_than_the_timeout(case: Case) -> None:
    with case.administrator.transaction(LOCK_HEAD):
        case.assert_refused(case.claim())
        case.assert_reads_succeed()
    assert case.claim().status == 204


def test_a_claim_waits_if_another_program_holds_the_head_for_a_short_time(case: Case) -> None:
    responses: list[Response] = []
    with case.administrator.transaction(LOCK_HEAD):
        waiting = threading.Thread(target=lambda: responses.append(case.claim()))
        waiting.start()
        waiting.join(0.3)
        assert responses == []
    waiting.join(30)
    assert [response.status for response in responses] == [204]


def test_a_claim_fails_if_a_statement_takes_longer_than_the_server_allows(case: Case) -> None:
    if case.engine == "postgresql":
        limit, no_limit = (
            f"ALTER DATABASE {case.administrator.database} SET statement_timeout = {milliseconds}"
            for milliseconds in (300, 0)
        )
    else:
        limit, no_limit = (f"SET GLOBAL max_statement_time = {seconds}" for seconds in (0.3, 0))
    case.administrator.run(limit)
    try:
        with case.administrator.failing_trigger("allocations", SLOW[case.engine]):
            case.administrator.terminate_all()
            wait_until_recovered(case.api)
            case.assert_refused(case.claim())
            case.assert_reads_succeed()
    finally:
        case.administrator.run(no_limit)
        case.administrator.terminate_all()
    assert case.claim().status == 204


def test_a_write_is_retried_after_a_serialization_failure(case: Case) -> None:
    case.administrator.run(*TRIGGER_COUNTERS[case.engine])
    if case.engine == "postgresql":
        case.administrator.run("GRANT ALL ON SEQUENCE trigger_runs TO placement")
    with case.administrator.failing_trigger("allocations", SERIALIZATION_FAILURE[case.engine]):
        assert case.claim().status == 204
    assert sum(case.database_rows.allocation_counts([case.host]).values()) == 1


def test_a_write_is_retried_after_a_serialization_failure_at_the_commit(case: Case) -> None:
    if case.engine != "postgresql":
        pytest.skip("MariaDB has no deferred triggers; test_galera.py has conflicts at the commit")
    case.administrator.run(*TRIGGER_COUNTERS[case.engine], "GRANT ALL ON SEQUENCE trigger_runs TO placement")
    with case.administrator.failing_trigger(
        "allocations", SERIALIZATION_FAILURE[case.engine], at_commit=True
    ):
        assert case.claim().status == 204
    assert sum(case.database_rows.allocation_counts([case.host]).values()) == 1


def test_the_outcome_of_a_commit_that_the_server_refuses_is_known(case: Case) -> None:
    if case.engine != "postgresql":
        pytest.skip("MariaDB has no deferred triggers")
    full = "RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'"
    with case.administrator.failing_trigger("allocations", full, at_commit=True):
        case.assert_refused(case.claim())


def test_a_deadlock_with_another_program_is_resolved(case: Case) -> None:
    responses: list[Response] = []
    with case.administrator.transaction("UPDATE resource_providers SET name = name") as other:
        waiting = threading.Thread(target=lambda: responses.append(case.claim()))
        waiting.start()
        waiting.join(0.3)
        try:
            other.execute(LOCK_HEAD)
        except Exception as victim:
            assert "deadlock" in str(victim).lower() or "lock" in str(victim).lower()
    waiting.join(30)
    assert [response.status for response in responses] == [204]
    assert sum(case.database_rows.allocation_counts([case.host]).values()) == 1


def test_a_read_only_server_refuses_writes_and_allows_reads(case: Case) -> None:
    if case.engine == "postgresql":
        off, on = (
            f"ALTER DATABASE {case.administrator.database} SET default_transaction_read_only = {state}"
            for state in ("off", "on")
        )
    else:
        off, on = "SET GLOBAL read_only = 0", "SET GLOBAL read_only = 1"
    case.administrator.run(on)
    case.administrator.terminate_all()
    wait_until_recovered(case.api)
    try:
        case.assert_refused(case.claim())
        case.assert_reads_succeed()
    finally:
        case.administrator.run(
            "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"
            if case.engine == "postgresql"
            else "DO 0",
            off,
        )
        case.administrator.terminate_all()
    assert case.claim().status == 204


@pytest.mark.parametrize("right", ["INSERT", "SELECT"])
def test_a_missing_right_is_reported_as_such_and_not_as_a_read_only_server(
    case: Case, right: str, caplog: pytest.LogCaptureFixture
) -> None:
    with case.without(right):
        case.assert_not_permitted(case.claim())
        if right == "SELECT":
            case.assert_not_permitted(case.api.get(f"/allocations/{new_uuid()}"))
        else:
            case.assert_reads_succeed()
    expected = (
        "permission denied for table" if case.engine == "postgresql" else f"{right} command denied to user"
    )
    assert expected in caplog.text
    assert "To the user 'placement': " in caplog.text
    wait_until_recovered(case.api)
    assert case.claim().status == 204


def test_a_refused_login_is_reported_as_such_and_not_as_an_unreachable_server(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    if case.engine == "postgresql":
        off, on = "ALTER ROLE placement NOLOGIN", "ALTER ROLE placement LOGIN"
        expected = 'role "placement" is not permitted to log in'
    else:
        off, on = (f"ALTER USER placement@'%' ACCOUNT {state}" for state in ("LOCK", "UNLOCK"))
        expected = "this account is locked"
    case.administrator.run(off)
    case.administrator.terminate_all()
    try:
        case.assert_not_permitted(case.claim())
        case.assert_not_permitted(case.api.get(f"/resource_providers/{case.host}"))
    finally:
        case.administrator.run(on)
    assert expected in caplog.text
    assert "To the user 'placement': " in caplog.text
    wait_until_recovered(case.api)
    assert case.claim().status == 204


def test_requests_fail_if_the_server_has_no_connection_left(case: Case) -> None:
    if case.engine == "postgresql":
        off, on = (f"ALTER ROLE placement CONNECTION LIMIT {limit}" for limit in (-1, 0))
    else:
        # Zero would mean without a limit.
        off, on = (f"ALTER USER placement@'%' WITH MAX_USER_CONNECTIONS {limit}" for limit in (0, 1))
    case.administrator.run(on)
    case.administrator.terminate_all()
    try:
        with all_connections_taken(case):
            case.assert_refused(case.claim())
            assert_unavailable(case.api.get(f"/resource_providers/{case.host}"))
    finally:
        case.administrator.run(off)
    wait_until_recovered(case.api)
    assert case.claim().status == 204


@contextmanager
def all_connections_taken(case: Case) -> Iterator[None]:
    """Take the one connection that MariaDB allows the user. PostgreSQL allows none, so nothing is done."""
    if case.engine == "postgresql":
        yield
        return
    server = case.administrator.server
    connection = pymysql.connect(host=server.host, port=server.port, user="placement", ssl_disabled=True)
    yield
    connection.close()
