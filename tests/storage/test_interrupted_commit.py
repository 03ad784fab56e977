# SPDX-License-Identifier: Apache-2.0

"""A message cancelled after its COMMIT: the server reports a failure, but the transaction is committed."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import select, text

from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.dialects.mysql import MySQL
from plimsoll.storage.dialects.postgresql import PostgreSQL
from plimsoll.storage.errors import OutcomeUnknown
from plimsoll.storage.fast import multi_statement
from plimsoll.storage.sql import Statement

INSERT_TRAIT = Statement("INSERT INTO traits (name) VALUES ('CUSTOM_LATE')")


def interrupt(db: Database, connection_id: int) -> None:
    time.sleep(0.5)
    sql = "SELECT pg_cancel_backend({})" if isinstance(db._dialect, PostgreSQL) else "KILL QUERY {}"
    with db.read() as connection:
        connection.execute(text(sql.format(connection_id)))


def test_the_outcome_of_a_cancelled_commit_is_unknown(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(db._dialect, PostgreSQL):
        slow = "SELECT pg_sleep(10)"
    elif isinstance(db._dialect, MySQL):
        slow = "SELECT COUNT(*) FROM seq_1_to_100000 a, seq_1_to_100000 b"
    else:
        pytest.skip("SQLite statements cannot be cancelled by another connection")
    monkeypatch.setattr(multi_statement, "COMMIT", Statement(f"COMMIT;{slow}"))
    with pytest.raises(OutcomeUnknown), db.transaction() as transaction:
        transaction.lock_head()
        driver = transaction.connection.connection.driver_connection
        assert driver is not None
        connection_id = driver.info.backend_pid if isinstance(db._dialect, PostgreSQL) else driver.thread_id()
        canceller = threading.Thread(target=interrupt, args=(db, connection_id))
        canceller.start()
        transaction.commit([INSERT_TRAIT])
    canceller.join()
    with db.read() as connection:
        assert connection.scalar(select(t.traits.c.name).where(t.traits.c.name == "CUSTOM_LATE")) is not None
