# SPDX-License-Identifier: Apache-2.0

"""Writers for tests: in this process, as the ledger writes, and in other processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from plimsoll.domain.actor import Actor
from plimsoll.storage import changes
from plimsoll.storage.changes import Change
from plimsoll.storage.database import Database
from plimsoll.storage.head import Head

IN_ANOTHER_PROCESS = """
import sys
from sqlalchemy import text
from plimsoll.storage import changes
from plimsoll.storage.database import Database
db = Database(sys.argv[1])
"""


@contextmanager
def locked_write(db: Database) -> Iterator[Connection]:
    """Open a write transaction that holds the head, as the ledger does."""
    with db.transaction() as transaction:
        transaction.lock_head()
        yield transaction.connection
        transaction.commit()


def move_head(db: Database) -> Head:
    """Commit an empty change, which moves the head, as the ledger does; return the new head."""
    with db.transaction() as transaction:
        head, mark = transaction.lock_head(), changes.new_mark()
        change = Change(head.seq + 1, datetime(2026, 1, 1), Actor(), "test", "[]")
        transaction.commit(changes.append_statements(transaction.dialect, [change], head, mark))
        return Head(change.seq, mark)


def start(script: str, url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", IN_ANOTHER_PROCESS + script, url], stdout=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=60)
    return process.returncode
