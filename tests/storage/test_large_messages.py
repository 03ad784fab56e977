# SPDX-License-Identifier: Apache-2.0

"""Messages of several megabytes between service and server, over a network with small buffers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from sqlalchemy import make_url

from tests.support.databases import Databases
from tests.support.relay import Relay

MEGABYTES = 6
WRITE = """
import sys
if sys.argv[2] == "gevent":
    from gevent import monkey
    monkey.patch_all()
    from plimsoll.runtime.greenlets import Greenlets as Runtime
else:
    from plimsoll.runtime.threads import Threads as Runtime
from datetime import datetime
from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.sql import query

database = Database(sys.argv[1], runtime=Runtime())
effects = "[" + " " * (int(sys.argv[3]) << 20) + "]"
with database.transaction() as transaction:
    head = transaction.lock_head()
    change = Change(head.seq + 1, datetime(2026, 1, 1), Actor("u", "p", "req-1"), "test", effects)
    transaction.commit(changes.append_statements(transaction.dialect, [change], head, 7))
with database.read() as conn:
    assert len(changes.since(conn, 0, 1)[0].effects) == len(effects)
many = ["x" * 36] * (int(sys.argv[3]) << 20 >> 6)
with database.transaction() as transaction:
    transaction.lock_head()
    statement = query(transaction.dialect, "SELECT uuid FROM consumers WHERE uuid IN (...)", many)
    assert transaction.run([statement]) == [[]]
print("written")
"""


@pytest.fixture
def relay(databases: Databases, url: str) -> Iterator[Relay]:
    if databases.engine == "sqlite":
        pytest.skip("SQLite has no network")
    place = make_url(url)
    with Relay(place.host or "", place.port or 0) as relay:
        yield relay


@pytest.mark.parametrize("concurrency", ["gevent", "threads"])
def test_a_message_larger_than_all_buffers_is_sent_completely(
    relay: Relay, url: str, concurrency: str
) -> None:
    through = make_url(url).set(port=relay.port).render_as_string(hide_password=False)
    done = subprocess.run(
        [sys.executable, "-c", WRITE, through, concurrency, str(MEGABYTES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout == "written\n", done.stderr
    assert relay.max_message_bytes > MEGABYTES << 20
