# SPDX-License-Identifier: Apache-2.0

"""A message that is interrupted after its commit: the server says that it failed, and it is done all the same."""

from __future__ import annotations

import threading
import time

import pytest
from sqlalchemy import select, text

from plimsoll.storage import changes
from plimsoll.storage import tables as t
from plimsoll.storage.database import Database
from plimsoll.storage.dialects.mysql import MySQL
from plimsoll.storage.dialects.postgresql import PostgreSQL
from plimsoll.storage.errors import OutcomeUnknown
from plimsoll.storage.sql import Statement

NAMED = Statement("INSERT INTO traits (name) VALUES ('CUSTOM_LATE')")


def interrupt(db: Database, number: int) -> None:
    time.sleep(0.5)
    words = "SELECT pg_cancel_backend({})" if isinstance(db._dialect, PostgreSQL) else "KILL QUERY {}"
    with db.read() as connection:
        connection.execute(text(words.format(number)))


def test_nobody_knows_what_became_of_it(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(db._dialect, PostgreSQL):
        slowly = "{};COMMIT;SELECT pg_sleep(10)"
    elif isinstance(db._dialect, MySQL):
        slowly = "BEGIN NOT ATOMIC {};COMMIT;SELECT COUNT(*) FROM seq_1_to_100000 a, seq_1_to_100000 b;END"
    else:
        pytest.skip("nobody else can interrupt it")
    monkeypatch.setattr(db._dialect, "with_commit", slowly.format)
    with pytest.raises(OutcomeUnknown), db.write() as connection:
        changes.lock_head(connection)
        driver = connection.connection.driver_connection
        assert driver is not None
        number = driver.info.backend_pid if isinstance(db._dialect, PostgreSQL) else driver.thread_id()
        stranger = threading.Thread(target=interrupt, args=(db, number))
        stranger.start()
        db.run_last(connection, [NAMED])
    stranger.join()
    with db.read() as connection:
        assert connection.scalar(select(t.traits.c.name).where(t.traits.c.name == "CUSTOM_LATE")) is not None
